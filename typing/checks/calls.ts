// Calls: how many arguments, which names, which kinds (builtins.md 0.1, language.md 3.2, 3.4).
import type { Arguments, Call, Execute, Expression, MethodCall, Span, Value } from '../../compiler/ast.ts';
import { type CallTarget, type CompiledProcedure, didYouMean } from '../../compiler/index.ts';
import { builtinTable, type Overload } from '../../stdlib/builtins/index.ts';
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
  if (furthest) context.report(furthest.at ?? at, furthest.code, furthest.detail, furthest.hint);
}

interface Problem {
  readonly at?: Span;
  readonly code: 'argument.count' | 'argument.missing' | 'argument.type' | 'argument.unknown';
  readonly detail: string;
  readonly hint?: string | undefined;
  readonly position: number;
}

function problemOf(context: CheckContext, overload: Overload, receiver: Expression | null, args: Arguments): Problem | null {
  const { params, name } = overload;
  if (args.named.length > 0) {
    const given = receiver ? params.slice(1) : params;
    for (const { name: word } of args.named)
      if (!given.some((parameter) => parameter.name === word.name)) {
        const hint = didYouMean(
          word.name,
          given.map((parameter) => parameter.name),
        );
        return { at: word, code: 'argument.unknown', detail: `${name} has no parameter '${word.name}'`, hint, position: 0 };
      }
    const absent = given.find((parameter) => !parameter.optional && !args.named.some((one) => one.name.name === parameter.name));
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
    const wants = parameter.types.filter((type) => type !== 'null').join(' or ');
    const detail = `${name} takes ${article(wants)} as '${parameter.name}', and this is ${kinds.map(named).join(' or ')}`;
    return { at: value, code: 'argument.type', detail, position };
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
  const known = [...builtinTable().keys(), ...procedures.keys()];
  const hint = nearest(name, known);
  // With a receiver the value may be of a kind that has methods of its own.
  if (name.startsWith('system.') || (receiver && hint === undefined)) return;
  if (hint !== undefined || context.environment.complete.procedures)
    context.report(at, 'procedure.unknown', `there is no procedure '${name}'`, hint);
}

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
