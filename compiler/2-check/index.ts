// Second phase: what the tree means. Names, calls, triggers, the header, effects; everything found is beside the tree, in the Model.
import type { Definition, ProcedureDefinition, RuleDefinition, Statement } from '../ast.ts';
import type { CompileOptions } from '../types.ts';
import { BodyChecker, type Findings } from './body.ts';
import { CallResolver } from './calls.ts';
import { computedChanges } from './computed-changes.ts';
import { fold } from './constants.ts';
import { Effects } from './effects.ts';
import { checkHeader, turnedParameters } from './header.ts';
import { holdsMaps } from './maps.ts';
import type { Model, RuleFacts } from './model.ts';
import { namesOf } from './names.ts';
import type { Report } from './report.ts';
import { checkReturns } from './returns.ts';
import { Scope } from './scope.ts';
import { checkState } from './state.ts';
import { checkTriggers } from './triggers.ts';

export type { ComputedChange } from './computed-changes.ts';
export type { CallTarget, Model, Names, Uses } from './model.ts';
export { asksHost } from './calls.ts';
export { isSum } from './effects.ts';
export type { Report } from './report.ts';

/** Reports what is wrong; the model is of use to the emitter only when nothing was. */
export function check(definition: Definition, { builtins, stateOf }: Pick<CompileOptions, 'builtins' | 'stateOf'>, report: Report): Model {
  const imports = namesOf(definition, report);
  const found: Findings = {
    calls: new Map(),
    constants: new Map(),
    selects: new Map(),
    barePaths: new Set(),
    bareLogs: new Set(),
    recommendations: new Map(),
    state: new Set(),
    mapReads: new Set(),
  };
  const resolver = new CallResolver(builtins, imports);
  const rule = definition.type === 'Rule' ? checkRule(definition, imports.names, resolver, report) : null;
  const procedure = definition.type === 'Procedure' ? checkHeader(definition, imports.package, imports.names, report) : null;
  const state = definition.type === 'Procedure' && procedure ? checkState(definition, procedure, stateOf ?? (() => null), report) : null;
  const mayHoldMaps = holdsMaps(definition, { procedure, rule, package: imports.package }, resolver);
  const hints = definition.type === 'Procedure' ? turnedParameters(definition) : rule?.renamed;
  const body = (statements: readonly Statement[], declared: readonly string[] = []): Scope => {
    const scope = new Scope({
      parameters: parametersOf(definition),
      events: rule?.variables ?? [],
      state: state?.names ?? [],
      declared,
      hints,
      report,
    });
    new BodyChecker(scope, resolver, found, mayHoldMaps, report).statements(statements);
    checkReturns(statements, report);
    return scope;
  };
  const main = body(definition.body);
  for (const { expression, variables } of rule?.asked ?? []) {
    const scope = new Scope({ parameters: [], events: variables, report });
    new BodyChecker(scope, resolver, found, mayHoldMaps, report).expression(expression);
  }
  // A variable is there in the whole rule (language.md S1). Where TIMEOUT runs the body has not: the body's variables are null.
  const timeout = definition.type === 'Rule' && definition.timeout ? body(definition.timeout, main.variables) : null;
  const others = definition.type === 'Rule' ? [...(definition.timeout ?? []), ...(rule?.asked ?? []).map((one) => one.expression)] : [];
  return {
    definition,
    ...found,
    computed: computedChanges(definition.body, others, { ...found, events: rule?.variables ?? [] }),
    mayHoldMaps,
    variables: { main: main.variables, timeout: timeout?.variables ?? [] },
    uses: { main, timeout: timeout ?? main },
    arrayParameters: new Set(procedure?.parameters.filter((parameter) => parameter.array).map((parameter) => parameter.name)),
    package: imports.package,
    names: imports.names,
    effects: new Effects(found.calls, new Set([...found.state, ...found.mapReads]), mayHoldMaps),
    stateAccess: state?.access ?? null,
    rule,
    procedure,
  };
}

function checkRule(definition: RuleDefinition, names: Model['names'], resolver: CallResolver, report: Report): RuleFacts {
  const constraint = definition.activationConstraint;
  if (constraint && !isObjectText(constraint)) report(constraint, 'cascade.rule.activation', 'this is no JSON object');
  return checkTriggers(definition, names, resolver, report);
}

function isObjectText(node: NonNullable<RuleDefinition['activationConstraint']>): boolean {
  if (node.type === 'Object') return fold(node) !== undefined;
  try {
    const parsed: unknown = JSON.parse(node.value);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false; // the text is the user's: not JSON is what is asked for here
  }
}

function parametersOf(definition: RuleDefinition | ProcedureDefinition): string[] {
  return definition.type === 'Procedure' ? definition.parameters.map((parameter) => parameter.name.name) : [];
}
