// Static types: what is surely wrong about the values of a text, given the types and procedures around it. The text is projected to
// TypeScript, TypeScript infers what each expression may be, and the checks compare that with what the language wants. The language is
// dynamically typed, so all of it is advice: nothing is said of what is not known, and nothing refuses a text.
import { type Span, type Statement } from '../compiler/ast.ts';
import {
  type AnyNode,
  analyse,
  childrenOf,
  type CompiledProcedure,
  type CompileOptions,
  type Diagnostic,
  toAdvice,
} from '../compiler/index.ts';
import { allBuiltins, builtinTable, type Overload } from '../stdlib/builtins/index.ts';
import { checkCall } from './checks/calls.ts';
import type { AdviceCode, CheckContext } from './checks/context.ts';
import { checkMember, checkSubscript } from './checks/members.ts';
import { checkBinary, checkUnary } from './checks/operations.ts';
import { checkCondition, checkSelect, checkTriggers, checkWrite, typeOf } from './checks/resources.ts';
import { declarationsOf } from './declarations.ts';
import { Inference } from './inference.ts';
import { project } from './projection.ts';
import { type TypeEnvironment, toTypeShape, type TypeShape } from './type-environment.ts';

export { type TypeEnvironment, toTypeShape, type TypeShape } from './type-environment.ts';

/** Gathers what a namespace has; a later definition of a name replaces the earlier. */
export function environmentOf(
  types: readonly unknown[],
  procedures: readonly CompiledProcedure[],
  complete: TypeEnvironment['complete'],
): TypeEnvironment {
  const shapes = types.map(toTypeShape).filter((shape): shape is TypeShape => shape !== null);
  return {
    types: new Map(shapes.map((shape) => [shape.name, shape])),
    procedures: new Map(procedures.map((procedure) => [procedure.name, procedure])),
    complete,
  };
}

/** Larger texts are left to the compiler alone: nobody waits minutes for advice. */
const MOST_CHARACTERS = 100_000;

/** Checks the texts of one namespace, one after another. */
export class TypeChecker {
  readonly #environment: TypeEnvironment;
  readonly #inference: Inference;
  readonly #overloads: ReadonlyMap<string, readonly Overload[]>;
  readonly #stateOf: CompileOptions['stateOf'];
  /** @param stateOf the state variables of a service */
  constructor(environment: TypeEnvironment, stateOf?: CompileOptions['stateOf']) {
    this.#environment = environment;
    this.#stateOf = stateOf;
    this.#inference = new Inference(declarationsOf(environment));
    this.#overloads = new Map([...allBuiltins()].map(({ info, overloads }) => [info.name, overloads]));
  }

  /** @returns warnings in the order of the text; none for a text that does not compile */
  check(source: string): readonly Diagnostic[] {
    if (source.length > MOST_CHARACTERS) return [];
    const analysed = analyse(source, { builtins: builtinTable(), ...(this.#stateOf && { stateOf: this.#stateOf }) });
    if (!analysed) return [];
    const { model } = analysed;
    const overloads = (name: string): readonly Overload[] => this.#overloads.get(name) ?? [];
    const knownOf = this.#inference.infer(project({ model, environment: this.#environment, overloads }));
    const findings: { at: Span; code: string; detail: string; hint?: string | undefined }[] = [];
    const report = (at: Span, code: AdviceCode, detail: string, hint?: string): void => {
      findings.push({ at, code: `cascade.check.${code}`, detail, hint });
    };
    const ownProperties = ownPropertiesOf(model.definition);
    const context: CheckContext = { model, environment: this.#environment, knownOf, overloads, report, ownProperties };
    checkTriggers(context);
    const { definition } = model;
    for (const statement of [...definition.body, ...((definition.type === 'Rule' && definition.timeout) || [])]) visit(context, statement);
    return toAdvice(source, findings);
  }
}

/** One function a node type; what is below is looked at in any case. */
const CHECKS: Readonly<Record<string, (context: CheckContext, node: never) => void>> = {
  Member: checkMember,
  Subscript: checkSubscript,
  Binary: checkBinary,
  Unary: checkUnary,
  Call: checkCall,
  MethodCall: checkCall,
  Execute: checkCall,
  Insert: checkWrite,
  Upsert: checkWrite,
  Update: checkWrite,
  Select: checkSelect,
  Delete: (context, node: Extract<Statement, { type: 'Delete' }>) =>
    checkCondition(context, node.where, typeOf(context, node.target), null),
  PublishRequest: (context, node: Extract<Statement, { type: 'PublishRequest' }>) => void typeOf(context, node.target),
};

function visit(context: CheckContext, node: AnyNode): void {
  // In what another node does, names mean things there; in a computed property, properties of the row.
  if (node.type === 'ProcessedBy') return;
  (CHECKS[node.type] as ((context: CheckContext, node: AnyNode) => void) | undefined)?.(context, node);
  for (const child of childrenOf(node)) if (child.type !== 'Binding') visit(context, child);
}

/** Names that the text itself assigns, or has as a key or a String: an object may have got them here. */
function ownPropertiesOf(tree: AnyNode): Set<string> {
  const names = new Set(['count', 'qual']);
  const look = (node: AnyNode): void => {
    if (node.type === 'Assign') {
      const { target } = node as unknown as { target: AnyNode & { property?: string } };
      if (target.property !== undefined) names.add(target.property);
    }
    if (node.type === 'String') names.add((node as unknown as { value: string }).value);
    if (node.type === 'ObjectMember') names.add((node as unknown as { key: string }).key);
    for (const child of childrenOf(node)) look(child);
  };
  look(tree);
  return names;
}
