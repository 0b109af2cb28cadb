// Constant expressions: literals and arithmetic on numbers, as DEFAULT, WITH options of a procedure and intervals need them.
// They are kept as inner JSON (stdlib/values/inner-json.ts reads it), since the compiler has no values of its own.
import type { Expression } from '../ast.ts';

/** A constant: exact integers are bigint, Reals are marked, the rest is as JSON has it. */
export type Constant =
  | null
  | boolean
  | string
  | bigint
  | { readonly real: number }
  | Constant[]
  | { readonly object: readonly (readonly [string, Constant])[] };

type Folders = { [T in Expression['type']]?: (node: Extract<Expression, { type: T }>) => Constant | undefined };
const folders: Folders = {
  Integer: (node) => node.value,
  Interval: (node) => node.milliseconds,
  Real: (node) => ({ real: node.value }),
  String: (node) => node.value,
  Boolean: (node) => node.value,
  Null: () => null,
  Array: (node) => every(node.elements.map(fold)),
  Object: (node) => {
    const values = every(node.members.map((member) => fold(member.value)));
    return values && { object: node.members.map((member, index) => [member.key, values[index] ?? null] as const) };
  },
  Unary: (node) => {
    const operand = fold(node.operand);
    if (node.operator === '-' && typeof operand === 'bigint') return inRange(-operand);
    if (node.operator === '-' && isRealConstant(operand)) return { real: -operand.real };
    return node.operator === '+' && (typeof operand === 'bigint' || isRealConstant(operand)) ? operand : undefined;
  },
  Binary: (node) => {
    const left = fold(node.left);
    const right = fold(node.right);
    if (typeof left === 'bigint' && typeof right === 'bigint') return integerArithmetic(node.operator, left, right);
    if (isNumberConstant(left) && isNumberConstant(right)) return realArithmetic(node.operator, asDouble(left), asDouble(right));
    return node.operator === '+' && typeof left === 'string' && typeof right === 'string' ? left + right : undefined;
  },
};

/** @returns the value of a constant expression, or undefined when it is not one */
export function fold(node: { readonly type: string }): Constant | undefined {
  const folder = folders[node.type as Expression['type']] as ((node: unknown) => Constant | undefined) | undefined;
  return folder?.(node);
}

/** A power of more is left to the program: no Integer but 0, 1 and -1 has one. */
const MOST_EXPONENT = 64n;

function integerArithmetic(operator: string, left: bigint, right: bigint): Constant | undefined {
  if (operator === '+') return inRange(left + right);
  if (operator === '-') return inRange(left - right);
  if (operator === '*') return inRange(left * right);
  if (operator === '**') return right >= 0n && right <= MOST_EXPONENT ? inRange(left ** right) : undefined;
  if (right === 0n) return undefined;
  if (operator === '%') return left % right;
  if (operator !== '/') return undefined;
  return left % right === 0n ? inRange(left / right) : realArithmetic(operator, asDouble(left), asDouble(right));
}

const REALS: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};

/** What is no finite number is an error at run time, and no constant. */
function realArithmetic(operator: string, left: number, right: number): Constant | undefined {
  const result = Object.hasOwn(REALS, operator) ? REALS[operator]?.(left, right) : undefined;
  return result !== undefined && Number.isFinite(result) ? { real: result } : undefined;
}

/** NaN for an Integer that is no double. */
const asDouble = (value: bigint | { readonly real: number }): number =>
  typeof value !== 'bigint' ? value.real : Number.isSafeInteger(Number(value)) ? Number(value) : Number.NaN;
const isNumberConstant = (value: Constant | undefined): value is bigint | { readonly real: number } =>
  typeof value === 'bigint' || isRealConstant(value);
const inRange = (value: bigint): bigint | undefined => (BigInt.asIntN(64, value) === value ? value : undefined);
const isRealConstant = (value: Constant | undefined): value is { readonly real: number } =>
  typeof value === 'object' && value !== null && 'real' in value;
function every(values: (Constant | undefined)[]): Constant[] | undefined {
  return values.includes(undefined) ? undefined : (values as Constant[]);
}

/** The tree that JSON.stringify turns into inner JSON. */
export function toInnerTree(value: Constant): unknown {
  if (typeof value === 'string') return value.startsWith('\u0001') ? `\u0001s${value}` : value;
  if (typeof value === 'bigint') {
    const narrow = Number(value);
    return Number.isSafeInteger(narrow) ? narrow : `\u0001i${value}`;
  }
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(toInnerTree);
  if (isRealConstant(value)) return realTree(value.real);
  const object: Record<string, unknown> = {};
  for (const [key, member] of value.object)
    Object.defineProperty(object, key, { value: toInnerTree(member), enumerable: true, configurable: true, writable: true });
  return object;
}

/** A Real with a fraction is a plain number, an integral one is marked. */
export function realTree(value: number): unknown {
  if (!Number.isInteger(value) && Number.isFinite(value)) return value;
  return `\u0001r${Object.is(value, -0) ? '-0' : String(value)}`;
}

/** Inner-JSON text of a constant expression, or undefined. */
export function constantText(node: { readonly type: string }): string | undefined {
  const value = fold(node);
  return value === undefined ? undefined : JSON.stringify(toInnerTree(value));
}
