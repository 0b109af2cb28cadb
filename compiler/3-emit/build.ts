// ESTree nodes, one short function a kind, so that the emitters read like the JavaScript they make.
import type * as es from 'estree';

export const id = (name: string): es.Identifier => ({ type: 'Identifier', name });
export const literal = (value: string | number | boolean | null): es.Expression => {
  if (typeof value === 'number' && (value < 0 || Object.is(value, -0)))
    return { type: 'UnaryExpression', operator: '-', prefix: true, argument: { type: 'Literal', value: -value } };
  return { type: 'Literal', value };
};
export const bigint = (value: bigint): es.Expression => {
  const digits: es.Literal = { type: 'Literal', value: null, bigint: String(value < 0n ? -value : value) };
  return value < 0n ? { type: 'UnaryExpression', operator: '-', prefix: true, argument: digits } : digits;
};
export const call = (callee: es.Expression, ...args: es.Expression[]): es.CallExpression => ({
  type: 'CallExpression',
  callee,
  arguments: args,
  optional: false,
});
/** `object.name` */
export const field = (object: es.Expression, name: string): es.MemberExpression => ({
  type: 'MemberExpression',
  object,
  property: id(name),
  computed: false,
  optional: false,
});
export const element = (object: es.Expression, index: number): es.MemberExpression => ({
  type: 'MemberExpression',
  object,
  property: literal(index),
  computed: true,
  optional: false,
});
/** Data that the compiler made: lists, plain objects, texts, numbers that are safe, and true, false, null. */
export function data(value: unknown): es.Expression {
  if (Array.isArray(value)) return array(value.map(data));
  if (typeof value === 'object' && value !== null) return object(Object.entries(value).map(([key, member]) => [key, data(member)]));
  return literal(value as string | number | boolean | null);
}
export const array = (elements: es.Expression[]): es.ArrayExpression => ({ type: 'ArrayExpression', elements });
/** Keys may be any text: `__proto__` is written as a computed key, which makes a plain property of it. */
export const object = (members: readonly (readonly [string, es.Expression])[]): es.ObjectExpression => ({
  type: 'ObjectExpression',
  properties: members.map(([key, value]) => ({
    type: 'Property',
    key: IDENTIFIER.test(key) && key !== '__proto__' ? id(key) : literal(key),
    value,
    kind: 'init',
    method: false,
    shorthand: false,
    computed: key === '__proto__',
  })),
});
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const assign = (target: es.Identifier, value: es.Expression): es.AssignmentExpression => ({
  type: 'AssignmentExpression',
  operator: '=',
  left: target,
  right: value,
});
export const sequence = (expressions: es.Expression[]): es.Expression =>
  expressions.length === 1 ? (expressions[0] as es.Expression) : { type: 'SequenceExpression', expressions };
export const conditional = (test: es.Expression, consequent: es.Expression, alternate: es.Expression): es.Expression => ({
  type: 'ConditionalExpression',
  test,
  consequent,
  alternate,
});
export const logical = (operator: '&&' | '||', left: es.Expression, right: es.Expression): es.Expression => ({
  type: 'LogicalExpression',
  operator,
  left,
  right,
});
export const not = (argument: es.Expression): es.Expression => ({ type: 'UnaryExpression', operator: '!', prefix: true, argument });
/** `yield* generator` */
export const delegate = (argument: es.Expression): es.YieldExpression => ({ type: 'YieldExpression', argument, delegate: true });

export const statement = (expression: es.Expression): es.Statement => ({ type: 'ExpressionStatement', expression });
export const block = (body: es.Statement[]): es.BlockStatement => ({ type: 'BlockStatement', body });
export const returns = (argument: es.Expression): es.Statement => ({ type: 'ReturnStatement', argument });
export const when = (test: es.Expression, consequent: es.Statement, alternate: es.Statement | null = null): es.Statement => ({
  type: 'IfStatement',
  test,
  consequent,
  alternate,
});
export const loop = (test: es.Expression, body: es.Statement[]): es.Statement => ({ type: 'WhileStatement', test, body: block(body) });
export const leave: es.Statement = { type: 'BreakStatement', label: null };
export const declare = (kind: 'let' | 'const', ...names: (readonly [string, es.Expression])[]): es.VariableDeclaration => ({
  type: 'VariableDeclaration',
  kind,
  declarations: names.map(([name, init]) => ({ type: 'VariableDeclarator', id: id(name), init })),
});

/** Parameters of a closure; one that is not given is null, as a lambda's missing arguments are. */
export const optional = (name: string): es.Pattern => ({ type: 'AssignmentPattern', left: id(name), right: literal(null) });
export const arrow = (params: es.Pattern[], body: es.Expression | es.BlockStatement): es.Expression => ({
  type: 'ArrowFunctionExpression',
  params,
  body,
  expression: body.type !== 'BlockStatement',
  generator: false,
  async: false,
});
export const generator = (params: es.Pattern[], body: es.Statement[], name: string | null = null): es.FunctionExpression => ({
  type: 'FunctionExpression',
  id: name === null ? null : id(name),
  params,
  body: block(body),
  generator: true,
  async: false,
});
export const declaredFunction = (
  name: string,
  params: es.Pattern[],
  body: es.Statement[],
  isGenerator: boolean,
): es.FunctionDeclaration => ({
  type: 'FunctionDeclaration',
  id: id(name),
  params,
  body: block(body),
  generator: isGenerator,
  async: false,
});
