// Calls: built-ins as constants of the module, user procedures through the driver, lambdas as functions of their own.
import type * as es from 'estree';
import type { Arguments, Call, Expression, Lambda, MethodCall, Span, Value } from '../ast.ts';
import { asksHost, type CallTarget } from '../2-check/index.ts';
import type { BuiltinInfo, BuiltinParameter } from '../types.ts';
import * as b from './build.ts';
import { emitPath, type ModuleWriter, variable } from './context.ts';
import { emitRowProperty } from './row-paths.ts';

export function emitCall(node: Call, module: ModuleWriter): es.Expression {
  const aggregate = module.row?.hidden?.get(node);
  if (aggregate !== undefined) return emitRowProperty(aggregate, node, module);
  return emitTarget(module.model.calls.get(node), node.arguments, node.callee, module);
}

export function emitMethodCall(node: MethodCall, module: ModuleWriter): es.Expression {
  return emitTarget(module.model.calls.get(node), node.arguments, node.method, module);
}

/** @param at the place that errors of the call name */
export function emitTarget(target: CallTarget | undefined, args: Arguments, at: Span, module: ModuleWriter): es.Expression {
  if (!target) throw new Error('a call without a meaning'); // the checker resolves every call
  return target.kind === 'builtin' ? emitBuiltin(target, args, at, module) : emitUser(target, args, at, module, null);
}

/** EXECUTE p(…): it may name the partition (language.md Y4), and may call PRIVATE procedures of another access pattern (Y7). */
export function emitExecuted(
  target: CallTarget,
  args: Arguments,
  partitionKey: Value | null,
  at: Span,
  module: ModuleWriter,
): es.Expression {
  if (target.kind === 'builtin') return emitBuiltin(target, args, at, module);
  return emitUser(target, args, at, module, partitionKey ? [partitionKey] : []);
}

type BuiltinTarget = Extract<CallTarget, { kind: 'builtin' }>;
type UserTarget = Extract<CallTarget, { kind: 'user' }>;

function emitBuiltin({ info, receiver }: BuiltinTarget, args: Arguments, at: Span, module: ModuleWriter): es.Expression {
  if (asksHost(info, args)) return emitHost(info, receiver, args, at, module);
  if (receiver && info.maySuspend && module.row === null) return emitShared(info, receiver, args, at, module);
  return emitPlain(info, receiver, args, at, module);
}

function emitPlain(info: BuiltinInfo, receiver: Expression | null, args: Arguments, at: Span, module: ModuleWriter): es.Expression {
  const first = receiver ? [emitReceiver(receiver, info, at, module)] : [];
  if (args.named.length > 0) {
    // By name a declaration is chosen when it is called: where one of them takes a Sequence, any argument may be it.
    const taken = { sequence: info.params.some(({ sequence }) => sequence), marksSequence: info.params.some((each) => each.marksSequence) };
    const named = b.object(args.named.map(({ name, value }) => [name.name, emitRead(value, taken, info, module)] as const));
    return b.call(module.builtin(receiver ? 'namedMethod' : 'named', info.name, at), b.id('$'), ...first, named);
  }
  const positional = args.positional.map((value, index) => emitArgument(value, info, index + first.length, module));
  return b.call(module.builtin(receiver ? 'method' : 'builtin', info.name, at), b.id('$'), ...first, ...positional);
}

/** A built-in that the host answers: its arguments by position, or by name. */
function emitHost(info: BuiltinInfo, receiver: Expression | null, args: Arguments, at: Span, module: ModuleWriter): es.Expression {
  const first = receiver ? [emitReceiver(receiver, info, at, module)] : [];
  const positional = b.array([...first, ...module.values(args.positional)]);
  const call = [b.id('$'), module.site(), b.literal(info.name), positional, emitNamed(args, module), b.literal(receiver !== null)];
  return b.delegate(module.helper('host', at, ...call));
}

/** A method that asks the host for a shared object only: where that costs nothing twice, all others are called without a detour. */
function emitShared(info: BuiltinInfo, receiver: Expression, args: Arguments, at: Span, module: ModuleWriter): es.Expression {
  const asked = emitHost(info, receiver, args, at, module);
  const isPlain = (node: Value): boolean => node.type === 'Name' && !module.model.state.has(node);
  const repeatable = isPlain(receiver) && args.positional.every((value) => isPlain(value) || SCALARS.has(value.type));
  if (!repeatable || args.named.length > 0) return asked;
  const isShared = module.helper('isShared', at, module.value(receiver));
  return b.conditional(isShared, asked, emitPlain(info, receiver, args, at, module));
}
const SCALARS: ReadonlySet<string> = new Set(['Integer', 'Real', 'String', 'Boolean', 'Null', 'Interval']);

function emitReceiver(receiver: Expression, info: BuiltinInfo, at: Span, module: ModuleWriter): es.Expression {
  const value = module.helper('receiver', at, module.value(receiver), emitPath(receiver, module));
  return emitContents(value, { sequence: info.params[0]?.sequence ?? false }, info, at, module);
}

function emitArgument(value: Value, info: BuiltinInfo, index: number, module: ModuleWriter): es.Expression {
  const parameter = info.params[Math.min(index, info.params.length - 1)];
  return emitRead(value, parameter ?? {}, info, module);
}

type Taken = Pick<BuiltinParameter, 'sequence' | 'marksSequence'>;

/** An argument as a built-in reads it, which cannot ask the host: Sequences, where it takes them, and what Maps hold, where it wants that. */
function emitRead(node: Value, taken: Taken, info: BuiltinInfo, module: ModuleWriter): es.Expression {
  const value = module.value(node);
  const isScalar = SCALARS.has(node.type) || (!info.contents && LITERALS.has(node.type));
  return isScalar ? value : emitContents(value, taken, info, node, module);
}
function emitContents(value: es.Expression, taken: Taken, info: BuiltinInfo, at: Span, module: ModuleWriter): es.Expression {
  const { sequence: isSequence = false, marksSequence = false } = taken;
  if (module.row !== null) return isSequence ? materialized(value, at, module, marksSequence) : value; // a row has no Maps
  if (!info.contents || !(isSequence || module.model.mayHoldMaps))
    return isSequence ? materialized(value, at, module, marksSequence) : value;
  return b.delegate(module.helper('contents', at, b.id('$'), value, b.literal(isSequence), b.literal(module.model.mayHoldMaps)));
}

/** A closure gives null where its last statement gives nothing. */
export function endingInValue(statements: es.Statement[]): es.Statement[] {
  return statements.at(-1)?.type === 'ReturnStatement' ? statements : [...statements, b.returns(b.literal(null))];
}

/**
 * A Sequence as an Array, anything else as it is: its elements may ask the host, which no built-in can. Those of a row of a SELECT, which
 * it has made itself, ask nobody.
 */
function materialized(value: es.Expression, at: Span, module: ModuleWriter, isMarked = false): es.Expression {
  const marks = isMarked ? [b.literal(true)] : [];
  const isRow = module.row !== null;
  const read = module.helper(isRow ? 'arrayNow' : 'array', at, b.id('$'), value, ...marks);
  return isRow ? read : b.delegate(read);
}
/** The same of an expression; a literal is no Sequence. */
export function emitMaterialized(node: Value, module: ModuleWriter): es.Expression {
  return LITERALS.has(node.type) ? module.value(node) : materialized(module.value(node), node, module);
}
const LITERALS: ReadonlySet<string> = new Set(['Integer', 'Real', 'String', 'Boolean', 'Null', 'Interval', 'Array', 'Object']);

function emitUser(
  { names, receiver }: UserTarget,
  args: Arguments,
  at: Span,
  module: ModuleWriter,
  executed: readonly Value[] | null,
): es.Expression {
  const first = receiver ? [module.helper('receiver', at, module.value(receiver), emitPath(receiver, module))] : [];
  const positional = b.array([...first, ...module.values(args.positional)]);
  const run = [b.id('$'), module.site(), b.literal(names.join('|')), positional, emitNamed(args, module)];
  if (executed) run.push(b.array(module.values(executed)));
  return b.delegate(module.helper(receiver ? 'callMethod' : 'call', at, ...run));
}

/** Named arguments as an object, or null where there are none. */
export function emitNamed(args: Arguments, module: ModuleWriter): es.Expression {
  if (args.named.length === 0) return b.literal(null);
  return b.object(args.named.map((argument) => [argument.name.name, module.value(argument.value)] as const));
}

export function emitLambda(node: Lambda, module: ModuleWriter): es.Expression {
  const outer = module.rowLocals;
  if (module.row !== null) module.rowLocals = [...outer, ...node.parameters.map((parameter) => parameter.name)];
  const closure = module.again(() => emitClosure(node, module));
  module.rowLocals = outer;
  return closure;
}
function emitClosure(node: Lambda, module: ModuleWriter): es.Expression {
  const params = node.parameters.map((parameter) => b.optional(variable(parameter.name).name));
  const { body } = node;
  const isGenerator = module.row === null && module.model.effects.lambdaSuspends(node);
  if (body.type === 'Block') {
    const statements = module.body(() => endingInValue(module.statements(body.body, 'value')));
    return isGenerator ? b.generator(params, statements) : b.arrow(params, b.block(statements));
  }
  const statements = module.body(() => [b.returns(module.value(body))]);
  if (isGenerator) return b.generator(params, statements);
  const [only] = statements;
  return only?.type === 'ReturnStatement' && only.argument ? b.arrow(params, only.argument) : b.arrow(params, b.block(statements));
}
