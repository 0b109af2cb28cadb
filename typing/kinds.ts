// The kinds of values that are known before a program runs, and what the language does with them (language.md 4.3, 4.6, 4.7). Each table
// holds only what is certain: where anything depends on the value itself, nothing is said.
export const SCALARS = ['String', 'Integer', 'Real', 'Decimal', 'Currency', 'Boolean', 'DateTime'] as const;
export type Scalar = (typeof SCALARS)[number];
const SCALAR_NAMES: ReadonlySet<string> = new Set(SCALARS);
export const isScalar = (kind: string): kind is Scalar => SCALAR_NAMES.has(kind);

/** One kind that an expression may have. */
export interface Kind {
  /** A scalar, `List`, `Sequence`, `Object`, `ResourceReference`, `Event`, `Function`, or another name of a built-in's signature. */
  readonly name: string;
  /** Of an Object: the type whose instance it is. */
  readonly type?: string;
  /** Of an Event: what it carries. Null: not known. */
  readonly value?: Known;
}
/** All kinds that an expression may have, or null when that is not known. */
export type Known = readonly Kind[] | null;

/** As a message names it: `an Integer`, `a Pump`. */
export function named({ name, type }: Kind): string {
  const word = type ?? name;
  return `${/^[AEIO]/.test(word) ? 'an' : 'a'} ${word}`;
}

/** Conversions that fail whatever the value is (language.md 4.3). */
const IMPOSSIBLE: Readonly<Record<Scalar, readonly Scalar[]>> = {
  String: [],
  Integer: ['Currency'],
  Real: ['Currency'],
  Decimal: ['Integer', 'Currency', 'Boolean', 'DateTime'],
  Currency: ['Integer', 'Boolean', 'DateTime'],
  Boolean: ['Integer', 'Real', 'Decimal', 'Currency', 'DateTime'],
  DateTime: ['Real', 'Decimal', 'Currency', 'Boolean'],
};

/** Can no value of this kind become one of the target, a base type or the name of a type? */
export function neverConverts(from: Kind, target: string, multi: boolean): boolean {
  if (multi)
    return from.name !== 'List' && (isScalar(from.name) || from.name === 'Event' || from.name === 'Sequence' || from.type !== undefined);
  if (from.name === 'List') return isScalar(target);
  if (isScalar(from.name)) return isScalar(target) ? IMPOSSIBLE[from.name].includes(target) : target === 'Object' || target === 'GeoJSON';
  return from.type !== undefined && isScalar(target) && target !== 'String';
}

/** What each scalar is ordered with; a String in the format of the left one. */
const ORDERED: Readonly<Record<Scalar, readonly Scalar[]>> = {
  String: ['String', 'Integer', 'Real', 'Boolean', 'DateTime'],
  Integer: ['Integer', 'Real', 'DateTime'],
  Real: ['Integer', 'Real'],
  Decimal: ['String', 'Integer', 'Real', 'Decimal', 'Currency'],
  Currency: ['String', 'Integer', 'Real', 'Decimal', 'Currency'],
  Boolean: [],
  DateTime: ['String', 'Integer', 'DateTime'],
};
/** With a Decimal or Currency on the right not even `==` has a result (language.md 4.7). */
const CASTING: ReadonlySet<string> = new Set(['String', 'Integer', 'Real', 'DateTime']);
const FIXED: ReadonlySet<string> = new Set(['Decimal', 'Currency']);

/** A comparison that fails with a class-cast error for all values but null (language.md 4.7). */
export function neverCompares(operator: string, left: Kind, right: Kind): boolean {
  if (CASTING.has(left.name) && FIXED.has(right.name)) return true;
  if (operator === '==' || operator === '!=') return false;
  if (!isScalar(left.name)) return hasNoOrder(left);
  return isScalar(right.name) ? !ORDERED[left.name].includes(right.name) : left.name === 'Boolean' || hasNoOrder(right);
}

const hasNoOrder = ({ name, type }: Kind): boolean => name === 'List' || name === 'ResourceReference' || type !== undefined;

/** Arithmetic that fails for all values (language.md 4.6). */
export function neverComputes(operator: string, left: Kind, right: Kind): boolean {
  const [a, b] = [left.name, right.name];
  if (!isScalar(a) || !isScalar(b)) return false;
  if (operator === '+' && (a === 'String' || b === 'String')) return false;
  if (a === 'Boolean' || b === 'Boolean') return true;
  if (operator === '%' && (FIXED.has(a) || FIXED.has(b))) return true;
  // A String beside a Decimal or Currency is parsed; beside anything else only + takes it.
  if (a === 'String' || b === 'String') return !(FIXED.has(a) || FIXED.has(b));
  if (a === 'DateTime') return b === 'DateTime' ? operator !== '-' : b !== 'Integer' || (operator !== '+' && operator !== '-');
  if (b === 'DateTime') return a !== 'Integer' || operator !== '+';
  return false;
}

/** What `in` cannot look into (language.md 4.7). */
export const neverHolds = ({ name, type }: Kind): boolean => isScalar(name) || name === 'Sequence' || type !== undefined;

/** What has no sign. */
export const neverSigned = ({ name, type }: Kind): boolean =>
  ['String', 'Boolean', 'DateTime', 'List', 'Sequence', 'ResourceReference'].includes(name) || type !== undefined;

/** The types of signatures (stdlib/builtins) that a kind fits, some of them after widening. */
export function fitsSignature(kind: Kind, types: readonly string[]): boolean {
  if (types.includes('any')) return true;
  const own = kind.type !== undefined || kind.name === 'Event' || kind.name === 'ResourceReference' ? 'Object' : kind.name;
  if (!(own in WIDENED)) return true; // kinds that this table does not know
  return (WIDENED[own] ?? []).some((type) => types.includes(type));
}
const WIDENED: Readonly<Record<string, readonly string[]>> = {
  String: ['String', 'DateTime'],
  Integer: ['Integer', 'Real', 'Number', 'Decimal', 'DateTime'],
  Real: ['Real', 'Number', 'Decimal'],
  Decimal: ['Decimal', 'Number'],
  Currency: ['Currency'],
  Boolean: ['Boolean'],
  DateTime: ['DateTime'],
  List: ['List'],
  Sequence: ['Sequence'],
  Object: ['Object'],
  Function: ['Function'],
};
