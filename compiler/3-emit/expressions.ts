// Expressions to ESTree: one function a node type, found by the type. A type without one does not compile.
import type * as es from 'estree';
import type { BinaryOperator, Expression, Name, Span, Target, Unary } from '../ast.ts';
import type { RuntimeName } from '../runtime-names.ts';
import * as b from './build.ts';
import { emitPath, type ModuleWriter, readVariable, writeVariable } from './context.ts';
import { isSum } from '../2-check/index.ts';
import { emitCall, emitLambda, emitMethodCall } from './calls.ts';
import { emitRowProperty, rowProperty } from './row-paths.ts';
import { skipped } from './skipped.ts';

type Table<N extends { type: string }> = { [T in N['type']]: (node: Extract<N, { type: T }>, module: ModuleWriter) => es.Expression };

/** The helper of each operator. */
export const OPERATION: Record<BinaryOperator, RuntimeName> = {
  '**': 'pow',
  '*': 'mul',
  '/': 'div',
  '%': 'mod',
  '+': 'add',
  '-': 'sub',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
  '==': 'eq',
  '!=': 'ne',
  in: 'inArray',
  regex: 'regex',
  geonear: 'geo',
  geointersects: 'geo',
  geowithin: 'geo',
};

const table: Table<Expression> = {
  Integer: (node, module) => module.integer(node.value),
  Real: (node, module) => module.real(node.value),
  String: (node, module) => module.string(node.value),
  Boolean: (node) => b.literal(node.value),
  Null: () => b.literal(null),
  Interval: (node, module) => module.integer(node.milliseconds), // an interval is milliseconds at run time
  Array: (node, module) => module.made(b.array(module.values(node.elements)), node.elements.length, node),
  Object: (node, module) => {
    const members = node.members.map((member) => [member.key, module.value(member.value)] as const);
    return module.made(b.object(members), members.length, node);
  },
  Name: (node, module) => emitName(node, module),
  Member: (node, module) => {
    const constant = module.model.constants.get(node);
    if (constant) return b.call(module.builtin('builtin', constant.name, node), b.id('$'));
    const ofRow = rowProperty(node, module);
    if (ofRow !== null) return emitRowProperty(ofRow, node.propertySpan, module);
    return emitRead(node, node.propertySpan, 'get', b.literal(node.property), module);
  },
  Subscript: (node, module) => {
    const inside = node.object.type === 'Name' && module.model.arrayParameters.has(node.object.name);
    return emitRead(node, node.index, inside ? 'atInside' : 'at', null, module);
  },
  Call: (node, module) => emitCall(node, module),
  MethodCall: (node, module) => emitMethodCall(node, module),
  Unary: (node, module) => emitUnary(node, module),
  Binary: (node, module) => {
    if (module.row === null && module.model.mayHoldMaps && isSum(node)) return emitSum(node, module);
    const name = OPERATION[node.operator];
    const operands = [module.value(node.left), module.value(node.right)];
    return module.helper(name, node.operatorSpan, ...(name === 'geo' ? [b.literal(node.operator)] : []), ...operands);
  },
  Logical: (node, module) => {
    const left = module.truth(node.left);
    const right = module.truth(node.right);
    const effects = skipped(node.right, module); // user calls of the part that is skipped still run (language.md 4.5)
    if (effects.length === 0) return b.logical(node.operator, left, right);
    if (node.operator === '&&') return b.conditional(left, right, b.sequence([...effects, b.literal(false)]));
    return b.conditional(left, b.sequence([...effects, b.literal(true)]), right);
  },
  Ternary: (node, module) => b.conditional(module.truth(node.condition), module.value(node.then), module.value(node.otherwise)),
  Postfix: (node, module) => {
    const before = module.temporary(); // its value is that before the change
    return emitStep(
      node,
      module,
      (read) => b.assign(before, read),
      (write) => b.sequence([write, before]),
    );
  },
  Lambda: (node, module) => emitLambda(node, module),
  Star: () => b.literal(null),
};

export function emitExpression(node: Expression, module: ModuleWriter): es.Expression {
  return (table[node.type] as (node: Expression, module: ModuleWriter) => es.Expression)(node, module);
}

function emitName(node: Name, module: ModuleWriter): es.Expression {
  if (module.row !== null && !module.rowLocals.includes(node.name)) return emitRowProperty(node.name, node, module);
  return module.row === null && module.model.bareLogs.has(node) ? b.literal(null) : readVariable(node, node.name, module);
}

function emitUnary(node: Unary, module: ModuleWriter): es.Expression {
  if (node.operator === '!') return b.not(module.truth(node.operand));
  if (node.operator === '-' && node.operand.type === 'Integer' && node.operand.value > 0n) return module.integer(-node.operand.value);
  if (node.operator === '-' && node.operand.type === 'Real') return module.real(-node.operand.value);
  return module.helper(node.operator === '-' ? 'neg' : 'pos', node, module.value(node.operand));
}

/**
 * Reads a target, works out its new value and writes it, with the parts of the target evaluated once.
 * @param next the new value, from the one read @param result the whole expression, from the writing one
 */
export function emitChange(
  target: Target,
  module: ModuleWriter,
  next: (read: es.Expression) => es.Expression,
  result: (write: es.Expression) => es.Expression = (write) => write,
): es.Expression {
  if (target.type === 'Name') return result(writeVariable(target, target.name, next(readVariable(target, target.name, module)), module));
  const object = module.temporary();
  const path = emitPath(target.object, module);
  const first = b.assign(object, module.value(target.object));
  if (target.type === 'Member') {
    const key = b.literal(target.property);
    const read = module.helper('get', target.propertySpan, object, key, path);
    return b.sequence([first, result(module.helper('set', target.propertySpan, b.id('$'), object, key, next(read), path))]);
  }
  const index = module.temporary();
  const read = module.helper('at', target.index, object, index, path);
  const write = module.helper('setAt', target.index, b.id('$'), object, index, next(read), path);
  return b.sequence([first, b.assign(index, module.value(target.index)), result(write)]);
}

/** `++` and `--`. */
export function emitStep(
  node: Extract<Expression, { type: 'Postfix' }>,
  module: ModuleWriter,
  onRead: (read: es.Expression) => es.Expression = (read) => read,
  result?: (write: es.Expression) => es.Expression,
): es.Expression {
  const name = node.operator === '++' ? 'inc' : 'dec';
  return emitChange(node.target, module, (read) => module.helper(name, node, onRead(read)), result);
}

/** `target = value`; the expression's value is the assigned one. */
export function emitAssign(target: Target, module: ModuleWriter, value: () => es.Expression): es.Expression {
  if (target.type === 'Name') return writeVariable(target, target.name, value(), module);
  const path = emitPath(target.object, module);
  const object = module.value(target.object);
  if (target.type === 'Member')
    return module.helper('set', target.propertySpan, b.id('$'), object, b.literal(target.property), value(), path);
  return module.helper('setAt', target.index, b.id('$'), object, module.value(target.index), value(), path);
}

/** A sum, in which a shared Map beside a text is asked for its contents. */
function emitSum(node: Extract<Expression, { type: 'Binary' }>, module: ModuleWriter): es.Expression {
  const [left, right] = [module.temporary(), module.temporary()];
  const at = node.operatorSpan;
  const isShared = (value: es.Expression): es.Expression => module.helper('isShared', at, value);
  return b.sequence([
    b.assign(left, module.value(node.left)),
    b.assign(right, module.value(node.right)),
    b.conditional(
      b.logical('||', isShared(left), isShared(right)),
      b.delegate(module.helper('joined', at, b.id('$'), left, right)),
      module.helper('add', at, left, right),
    ),
  ]);
}

/** Helpers that read, and those that answer null for what is of null. */
const OR_NULL = { get: 'getOrNull', at: 'atOrNull', atInside: 'atOrNull' } as const;

/** A member of anything, or an entry of a shared Map, for which the host is asked. */
function emitRead(
  node: Extract<Expression, { type: 'Member' | 'Subscript' }>,
  at: Span,
  helper: 'get' | 'at' | 'atInside',
  property: es.Expression | null,
  module: ModuleWriter,
): es.Expression {
  const plain = module.nullSafe ? OR_NULL[helper] : helper;
  const object = module.value(node.object);
  const key = property ?? module.value((node as Extract<Expression, { type: 'Subscript' }>).index);
  const path = emitPath(node.object, module);
  if (module.row !== null || !module.model.mapReads.has(node)) return module.helper(plain, at, object, key, path);
  const held = module.temporary();
  const first = b.assign(held, object);
  const before = property === null ? [b.assign(module.temporary(), key)] : [];
  const again = before[0]?.left as es.Expression | undefined;
  const index = again ?? key;
  const place = [b.id('$'), module.site(), held, index, path, b.literal(property === null)];
  const read = b.conditional(
    module.helper('isShared', at, held),
    b.delegate(module.helper('entry', at, ...place)),
    module.helper(plain, at, held, index, path),
  );
  return b.sequence([first, ...before, read]);
}
