// The compiler: the text of a rule or procedure in, diagnostics and JavaScript out. Pure: no files, no clock, no randomness.
// This index is the folder's door: other folders import from here, never from deeper.
import { parse } from './1-parse/index.ts';
import { check, type Model, type Report } from './2-check/index.ts';
import { emit, emitUnit, TooLarge } from './3-emit/index.ts';
import { Refused, verify } from './4-verify/index.ts';
import { advise } from './advise/index.ts';
import type { Definition, Span } from './ast.ts';
import { cautious } from './caution.ts';
import { Diagnostics, isAdvice } from './diagnostics.ts';
import { toDiagnostics } from './lines.ts';
import type { Compiled, CompiledModule, CompileOptions, Diagnostic } from './types.ts';

export { resultVariable } from './2-check/body.ts';
export { dottedPath } from './2-check/calls.ts';
export { COMPUTED_CALLS } from './2-check/computed-changes.ts';
export { didYouMean } from './2-check/hints.ts';
export type { CallTarget, Model } from './2-check/index.ts';
export { isSystemResource } from './2-check/names.ts';
export { type AnyNode, childrenOf } from './2-check/walk.ts';
export { format, type Formatted } from './format/index.ts';
export { originalPosition, type Place } from './source-map.ts';
export type {
  BuiltinInfo,
  BuiltinParameter,
  BuiltinTable,
  CompareOperator,
  Compiled,
  CompiledModule,
  CompiledParameter,
  CompiledProcedure,
  CompiledRule,
  CompileOptions,
  ConditionData,
  CorrelationSpec,
  Diagnostic,
  ExpressionData,
  ServiceStateNames,
  TriggerSpec,
} from './types.ts';

/** What is wrong with the text comes back as values, and so does what is wrong with the compiler: no text makes it throw. */
export function compile(source: string, options: CompileOptions): Compiled {
  const found = new Diagnostics(options.ofService ? ['cascade.resource.name.reserved'] : []);
  try {
    return compiled(source, options, found);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    found.report({ start: 0, end: 0 }, 'cascade.lang.syntax', `${INTERNAL_FAULT}: ${reason}`, 'please report it together with the text');
    return { ok: false, diagnostics: toDiagnostics(source, found) };
  }
}
/** How a diagnostic begins that is no fault of the text. */
export const INTERNAL_FAULT = 'the compiler failed on this text, which is a fault of the compiler';

function compiled(source: string, options: CompileOptions, found: Diagnostics): Compiled {
  const tree = parse(source, found);
  checkKind(tree, options, found);
  if (!tree) return { ok: false, diagnostics: toDiagnostics(source, found) };
  const direct: Report = (at, code, detail, hint) => found.report(at, code as 'cascade.lang.syntax', detail, hint);
  const report = found.hasErrors ? cautious(source, tree, [...found.list], direct) : direct;
  const model = check(tree, options, report);
  const module = found.hasErrors ? null : emitted(() => emit(model, source, options.traced === true), tree, report);
  if (module && options.advice) advise(model, report);
  const diagnostics = toDiagnostics(source, found);
  if (!module) return { ok: false, diagnostics };
  verify(module.source);
  const warnings = diagnostics.filter(({ code }) => !isAdvice(code));
  return { ok: true, diagnostics, unit: emitUnit(model, module, warnings) };
}

/** Whether the text is one that this compiler may have written, and so may be loaded: it comes from the store, where others could write. */
export function isVerified(moduleSource: string): boolean {
  try {
    verify(moduleSource);
    return true;
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The tree of a text and what it means, for those who look further; null when the text has errors. */
export function analyse(source: string, options: CompileOptions): { readonly model: Model } | null {
  const found = new Diagnostics(options.ofService ? ['cascade.resource.name.reserved'] : []);
  const tree = parse(source, found);
  if (!tree || found.hasErrors) return null;
  const model = check(tree, options, (at, code, detail, hint) => found.report(at, code as 'cascade.lang.syntax', detail, hint));
  return found.hasErrors ? null : { model };
}

/** Advice that others than the compiler found, in its form. */
export function toAdvice(
  source: string,
  findings: readonly { readonly at: Span; readonly code: string; readonly detail: string; readonly hint?: string | undefined }[],
): readonly Diagnostic[] {
  const found = new Diagnostics();
  for (const { at, code, detail, hint } of findings) found.report(at, code as 'cascade.check.operand', detail, hint);
  return toDiagnostics(source, found);
}

/** The diagnostics of the text alone: names and types are not looked at. */
export function checkSyntax(source: string): readonly Diagnostic[] {
  const found = new Diagnostics();
  parse(source, found);
  return toDiagnostics(source, found);
}

function checkKind(tree: Definition | null, { kind }: CompileOptions, found: Diagnostics): void {
  const expected = kind === 'rule' ? 'Rule' : 'Procedure';
  if (tree && kind && tree.type !== expected) found.report(tree, 'cascade.lang.syntax', `this is no ${kind}`);
}

/** Calls behind `&&` and `||` are emitted twice (language.md 4.5); nested deeply enough they would outgrow everything. */
function emitted(make: () => CompiledModule, at: Definition, report: Report): CompiledModule | null {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    report(at, 'cascade.lang.syntax', 'calls are nested too deeply in && and ||');
    return null;
  }
}
