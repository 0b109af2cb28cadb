// Expressions to text, with parentheses only where the precedence asks for them (language.md 2.4).
import type { Arguments, BinaryOperator, Expression, IntervalLiteral, Lambda, RealLiteral, Unary } from '../ast.ts';
import { deeper, key, list, type Page, type Printers, printBy, string, value } from './page.ts';

const ANY = 0;
const OR = 1;
const AND = 2;
const EQUALITY = 3;
const RELATIONAL = 4;
export const ADDITIVE = 5;
const MULTIPLICATIVE = 6;
const PREFIX = 7;
const POWER = 8;
const POSTFIX = 9;
const OPERAND = 10;

const LEVELS: Readonly<Record<BinaryOperator, number>> = {
  '==': EQUALITY,
  '!=': EQUALITY,
  '<': RELATIONAL,
  '<=': RELATIONAL,
  '>': RELATIONAL,
  '>=': RELATIONAL,
  in: RELATIONAL,
  regex: RELATIONAL,
  geonear: RELATIONAL,
  geointersects: RELATIONAL,
  geowithin: RELATIONAL,
  '+': ADDITIVE,
  '-': ADDITIVE,
  '*': MULTIPLICATIVE,
  '/': MULTIPLICATIVE,
  '%': MULTIPLICATIVE,
  '**': POWER,
};
const LEVEL_OF_TYPE: Readonly<Partial<Record<Expression['type'], number>>> = { Lambda: ANY, Ternary: ANY, Unary: PREFIX, Postfix: POSTFIX };

function level(node: Expression): number {
  if (node.type === 'Binary') return LEVELS[node.operator];
  if (node.type === 'Logical') return node.operator === '&&' ? AND : OR;
  if (node.type === 'Integer' && node.value < 0n) return PREFIX;
  return LEVEL_OF_TYPE[node.type] ?? OPERAND;
}

const printers: Printers<Expression> = {
  Integer: (_, node) => String(node.value),
  Real: (_, node) => real(node),
  String: (_, node) => string(node.value),
  Boolean: (_, node) => String(node.value),
  Null: () => 'null',
  Interval: (_, node) => interval(node),
  Array: (page, node) =>
    list(
      page,
      '[',
      ']',
      node.elements.map((element) => expression(deeper(page), element)),
    ),
  Object: (page, node) =>
    list(
      page,
      '{',
      '}',
      node.members.map((member) => `${key(member.key)}: ${expression(deeper(page), member.value)}`),
    ),
  Name: (_, node) => node.name,
  Member: (page, node) => `${at(page, node.object, OPERAND)}.${node.property}`,
  Subscript: (page, node) => `${at(page, node.object, OPERAND)}[${expression(page, node.index)}]`,
  Call: (page, node) => node.callee.text + callArguments(page, node.arguments),
  MethodCall: (page, node) => `${receiver(page, node.object)}.${node.method.name}${callArguments(page, node.arguments)}`,
  Unary: unary,
  Binary: (page, node) => binary(page, node.left, spelled(node.operator), node.right, LEVELS[node.operator]),
  Logical: (page, node) => binary(page, node.left, node.operator, node.right, level(node)),
  Ternary: (page, { condition, then, otherwise }) =>
    `${at(page, condition, OR)} ? ${expression(page, then)} : ${expression(page, otherwise)}`,
  Postfix: (page, node) => expression(page, node.target) + node.operator,
  Lambda: lambda,
  Star: () => '*',
};
/** Without parentheses around the whole. */
export const expression = printBy<Expression>(printers);

/** In parentheses if it binds less than `least`. */
export function at(page: Page, node: Expression, least: number): string {
  const text = expression(page, node);
  return level(node) < least ? `(${text})` : text;
}

/** Word operators in capitals, as the conditions write them. */
export const spelled = (operator: string): string => operator.toUpperCase();

function binary(page: Page, left: Expression, operator: string, right: Expression, own: number): string {
  if (own === POWER) return `${at(page, left, POSTFIX)} ** ${at(page, right, PREFIX)}`;
  const least = own === RELATIONAL ? own + 1 : own;
  return `${at(page, left, least)} ${operator} ${at(page, right, own + 1)}`;
}

/** `- -x` must not become `--x`. */
function unary(page: Page, node: Unary): string {
  const text = at(page, node.operand, PREFIX);
  const collides = node.operator !== '!' && (text.startsWith('-') || text.startsWith('+'));
  return collides ? `${node.operator}(${text})` : node.operator + text;
}

/** A chain of names before `.f(…)` would make it the name of a procedure. */
function receiver(page: Page, node: Expression): string {
  let first = node;
  while (first.type === 'Member') first = first.object;
  return first.type === 'Name' ? `(${expression(page, node)})` : at(page, node, OPERAND);
}

/** `=> {` opens a block, so an object as the value stands in parentheses. */
function lambda(page: Page, { parameters, body }: Lambda): string {
  const names = parameters.map((parameter) => parameter.name).join(', ');
  const head = parameters.length === 1 ? names : `(${names})`;
  if (body.type === 'Block') return `${head} => ${page.block(page, body)}`;
  const text = expression(page, body);
  return `${head} => ${text.startsWith('{') ? `(${text})` : text}`;
}

export function callArguments(page: Page, given: Arguments): string {
  const named = given.named.map((argument) => `${argument.name.name}: ${value(page, argument.value)}`);
  return `(${[...given.positional.map((argument) => value(page, argument)), ...named].join(', ')})`;
}

/** A Real always has a point or an exponent. */
function real(node: RealLiteral): string {
  const text = String(node.value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const UNITS: readonly (readonly [string, bigint])[] = [
  ['week', 604_800_000n],
  ['day', 86_400_000n],
  ['hour', 3_600_000n],
  ['minute', 60_000n],
  ['second', 1_000n],
];
/** In the largest unit that fits. */
function interval({ milliseconds }: IntervalLiteral): string {
  const [unit, size] = UNITS.find(([, ms]) => milliseconds !== 0n && milliseconds % ms === 0n) ?? ['millisecond', 1n];
  const count = milliseconds / size;
  return `${count} ${unit}${count === 1n ? '' : 's'}`;
}
