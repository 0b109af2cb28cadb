// Calls: how many arguments, which names, which kinds (builtins.md 0.1, language.md 3.2, 3.4).
import type {
  Arguments,
  Assignment,
  Call,
  Execute,
  Expression,
  MethodCall,
  Span,
  Target,
  Value,
  VariableDeclaration,
} from '../../compiler/ast.ts';
import { type AnyNode, type CallTarget, childrenOf, type CompiledProcedure, didYouMean } from '../../compiler/index.ts';
import { builtinTable, type Overload, positionOf } from '../../stdlib/builtins/index.ts';
import { fitsSignature, named } from '../kinds.ts';
import type { CheckContext } from './context.ts';
import { misfit } from './values.ts';

export function checkCall(context: CheckContext, node: Call | MethodCall | Execute): void {
  const target = context.model.calls.get(node);
  const at = node.type === 'Call' ? node.callee : node.type === 'MethodCall' ? node.method : node.procedure;
  if (!target || !at) return;
  const receiver = target.receiver ?? (node.type === 'MethodCall' ? node.object : null);
  if (target.kind === 'builtin') checkBuiltin(context, at, target.info.name, receiver, node.arguments);
  else checkUser(context, at, target, receiver, node.arguments);
}

// ---------------------------------------------------------------- built-ins

/** Told of only what no declaration of the name takes; where several fail, in the words of the one that comes furthest. */
function checkBuiltin(context: CheckContext, at: Span, name: string, receiver: Expression | null, args: Arguments): void {
  const overloads = context.overloads(name);
  if (overloads.length === 0 || args.positional.some((value) => value.type === 'Star')) return;
  const problems = overloads.map((overload) => problemOf(context, overload, receiver, args));
  if (problems.includes(null)) return;
  const furthest = problems.reduce((a, b) => ((b?.position ?? 0) > (a?.position ?? 0) ? b : a));
  if (!furthest) return;
  const alike = problems.filter((one) => one?.code === furthest.code && one.position === furthest.position);
  context.report(furthest.at ?? at, furthest.code, alike.length > 1 ? oneOf(name, alike, furthest) : furthest.detail, furthest.hint);
}

/** Where each declaration refuses the same value, all that may stand there: `length` takes a String, and an Array, too. */
function oneOf(name: string, alike: readonly (Problem | null)[], { detail, is }: Problem): string {
  const wanted = [...new Set(alike.flatMap((one) => one?.wants ?? []))];
  return is === undefined || wanted.length < 2 ? detail : `${name} takes ${article(wanted.join(' or '))} here, and this is ${is}`;
}

interface Problem {
  readonly at?: Span;
  readonly code: 'argument.count' | 'argument.missing' | 'argument.type' | 'argument.unknown';
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly position: number;
  /** Of an argument of the wrong type: the types that would do, and what it is. */
  readonly wants?: readonly string[];
  readonly is?: string;
}

function problemOf(context: CheckContext, overload: Overload, receiver: Expression | null, args: Arguments): Problem | null {
  const { params, name } = overload;
  if (args.named.length > 0) {
    const given = receiver ? params.slice(1) : params;
    for (const { name: word } of args.named)
      if (positionOf(params, word.name) < (receiver ? 1 : 0)) {
        const hint = didYouMean(
          word.name,
          given.map((parameter) => parameter.name),
        );
        return { at: word, code: 'argument.unknown', detail: `${name} has no parameter '${word.name}'`, hint, position: 0 };
      }
    const absent = given.find(
      (parameter) => !parameter.optional && !parameter.rest && !args.named.some((one) => one.name.name === parameter.name),
    );
    return absent ? missing(name, absent.name, 0) : null;
  }
  const values: Value[] = [...(receiver ? [receiver] : []), ...args.positional];
  const rest = params.at(-1)?.rest === true;
  const extra = rest ? undefined : values[params.length];
  const shown = params.length - (receiver ? 1 : 0);
  for (const [position, value] of values.entries()) {
    const parameter = params[Math.min(position, params.length - 1)];
    const kinds = parameter && (position < params.length || rest) ? context.knownOf(value) : null;
    if (!parameter || !kinds?.[0] || kinds.some((kind) => fitsSignature(kind, parameter.types))) continue;
    const wants = parameter.types.filter((type) => type !== 'null');
    const is = kinds.map(named).join(' or ');
    const detail = `${name} takes ${article(wants.join(' or '))} as '${parameter.name}', and this is ${is}`;
    return { at: value, code: 'argument.type', detail, position, wants, is };
  }
  if (extra) return { at: extra, code: 'argument.count', detail: `${name} takes ${count(shown)}`, position: params.length };
  const absent = params.find((parameter, position) => position >= values.length && !parameter.optional && !parameter.rest);
  return absent ? missing(name, absent.name, values.length) : null;
}

const article = (text: string): string => `${/^[AEIO]/.test(text) ? 'an' : 'a'} ${text}`;
const count = (arguments_: number): string =>
  arguments_ === 0 ? 'no arguments' : arguments_ === 1 ? 'one argument' : `${arguments_} arguments`;
const missing = (procedure: string, parameter: string, position: number): Problem => ({
  code: 'argument.missing',
  detail: `${procedure} needs an argument for '${parameter}'`,
  position,
});

// ---------------------------------------------------------------- procedures of the namespace

function checkUser(
  context: CheckContext,
  at: Span,
  target: CallTarget & { kind: 'user' },
  receiver: Expression | null,
  args: Arguments,
): void {
  const { procedures } = context.environment;
  const found = target.names.map((name) => procedures.get(name)).find((one) => one !== undefined);
  if (found) return checkProcedure(context, at, found, receiver, args);
  const [name = ''] = target.names;
  if (!receiver && context.overloads(name).length > 0)
    return context.report(at, 'procedure.unknown', `there is no function '${name}'`, `it is a method: write value.${name}(…)`);
  if (receiver && STATEMENTS.has(name))
    return context.report(at, 'procedure.unknown', `there is no method '${name}'`, STATEMENTS.get(name));
  if (!receiver && holdsLambda(context.model.definition, name))
    return context.report(at, 'procedure.unknown', `there is no procedure '${name}'`, CALLED_LAMBDA);
  const service = receiver ? null : builtinService(name);
  const known = service ?? [...builtinTable().keys(), ...procedures.keys()];
  const hint = service ? (didYouMean(name, service) ?? `it has ${shortList(service)}`) : nearest(name, known);
  // A name of a built-in service is nobody else's (builtins.md C8).
  if (service) return context.report(at, 'procedure.unknown', `there is no procedure '${name}'`, hint);
  // With a receiver the value may be of a kind that has methods of its own.
  if (name.startsWith('system.') || (receiver && hint === undefined)) return;
  if (hint !== undefined || context.environment.complete.procedures)
    context.report(at, 'procedure.unknown', `there is no procedure '${name}'`, hint);
}

/** Methods of arrays elsewhere, whose names no procedure can have (language.md L9). */
const STATEMENTS: ReadonlyMap<string, string> = new Map([
  ['map', 'write MAP (x IN array) { return … }'],
  ['filter', 'write FILTER (x IN array) { return … }'],
]);
const CALLED_LAMBDA = 'a lambda cannot be called: built-ins take it as an argument';

/** Whether the text gives a lambda to a variable of that name. */
function holdsLambda(node: AnyNode, name: string): boolean {
  const { value } = node as { value?: unknown };
  const isLambda = (value as AnyNode | null | undefined)?.type === 'Lambda';
  if (node.type === 'Var' && isLambda && (node as unknown as VariableDeclaration).name.name === name) return true;
  if (node.type === 'Assign' && isLambda && nameOf((node as unknown as Assignment).target) === name) return true;
  return childrenOf(node).some((child) => holdsLambda(child, name));
}
const nameOf = (target: Target): string | null => (target.type === 'Name' ? target.name : null);

/** The procedures of the built-in service that a name with a point belongs to, or null. */
function builtinService(name: string): readonly string[] | null {
  const prefix = name.slice(0, name.lastIndexOf('.') + 1);
  const all = prefix === '' ? [] : [...builtinTable().keys()].filter((one) => one.startsWith(prefix) && !one.includes('.', prefix.length));
  return all.length > 0 ? all : null;
}

const MOST_LISTED = 6;
const shortList = (names: readonly string[]): string =>
  names.slice(0, MOST_LISTED).join(', ') + (names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : '');

/** A name that differs in one letter, or in the case of letters: what is further off may well be a procedure that is not known here. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const near = known.filter((one) => Math.abs(one.length - name.length) <= 1 && one.length > 3 && isNear(name, one));
  return didYouMean(name, near);
}
function isNear(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return true;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  const [restA, restB] = [a.slice(from), b.slice(from)];
  const isSwapped = restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2);
  return isSwapped || restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1);
}

function checkProcedure(context: CheckContext, at: Span, procedure: CompiledProcedure, receiver: Expression | null, args: Arguments): void {
  const { parameters, name } = procedure;
  const values: (Value | undefined)[] = [...(receiver ? [receiver] : []), ...args.positional];
  const extra = values[parameters.length];
  if (extra && args.named.length === 0) context.report(extra, 'argument.count', `${name} takes ${count(parameters.length)}`);
  for (const argument of args.named) {
    const position = parameters.findIndex((parameter) => parameter.name === argument.name.name);
    if (position >= 0) values[position] = argument.value;
    else {
      const hint = didYouMean(
        argument.name.name,
        parameters.map((parameter) => parameter.name),
      );
      context.report(argument.name, 'argument.unknown', `${name} has no parameter '${argument.name.name}'`, hint);
    }
  }
  for (const [position, parameter] of parameters.entries()) {
    const value = values[position];
    if (!value) {
      if (parameter.required) context.report(at, 'argument.missing', `${name} needs an argument for '${parameter.name}'`);
      continue;
    }
    const wrong = misfit(value, { type: parameter.type ?? 'Any', multi: parameter.array }, context.knownOf);
    if (wrong !== null) context.report(value, 'argument.type', `'${parameter.name}' of ${name}: ${wrong}`);
  }
}
