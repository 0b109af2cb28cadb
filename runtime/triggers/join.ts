// Two sides of a condition find each other by hash: from `a.value.room == b.value.room` (terms of the top-level AND) each side gets a key,
// made so that equal values have one key. More may meet than are equal, so the whole condition is tested afterwards; fewer never.
import type { ConditionData, ExpressionData, TriggerSpec } from '../../compiler/types.ts';
import {
  Currency,
  DateTime,
  Decimal,
  isNumber,
  isReference,
  numberOf,
  parseDateTime,
  text,
  type Value,
} from '../../stdlib/values/index.ts';
import { leavesAt } from './compare-term.ts';
import { type Key, NULL, numbersIn } from './keys.ts';
import type { ConditionPath } from '../conditions/index.ts';
import { compileCondition, type Node, type PathTerm, type Term } from './terms.ts';
import type { ConditionSurroundings, Surrounding } from './types.ts';
import { variablesOf } from './variables.ts';

/** Stands for a value that may equal values of other keys, too: arrays, Objects, what could not be worked out. */
export const ANY = Symbol('any');
export type JoinKey = Key | typeof ANY;

export interface Join {
  /** Of the events on the left, and on the right. Never throws. */
  readonly left: (around: Surrounding) => JoinKey;
  readonly right: (around: Surrounding) => JoinKey;
}

type Side = ReadonlySet<string>;
type KeyOf = (around: Surrounding) => JoinKey;

/** Null when no equality relates a path of one side to what the other side alone knows. */
export function joinOf(
  data: ConditionData,
  triggers: readonly TriggerSpec[],
  sides: { readonly left: Side; readonly right: Side },
  outside: ConditionSurroundings,
): Join | null {
  const terms = data.op === 'and' ? data.terms : [data];
  const pairs = terms.flatMap((term) => pairOf(term, triggers, sides, outside) ?? []);
  if (pairs.length === 0) return null;
  return { left: together(pairs.map(({ left }) => left)), right: together(pairs.map(({ right }) => right)) };
}

function pairOf(
  data: ConditionData,
  triggers: readonly TriggerSpec[],
  { left, right }: { readonly left: Side; readonly right: Side },
  outside: ConditionSurroundings,
): { left: KeyOf; right: KeyOf } | null {
  if (data.op !== 'compare' || data.operator !== '==' || data.left.k !== 'path') return null;
  const operand = namesIn(data.right);
  const within = (side: Side): boolean => operand.length > 0 && operand.every((name) => side.has(name));
  const pathOnLeft = left.has(data.left.root) && within(right);
  if (!pathOnLeft && !(right.has(data.left.root) && within(left))) return null;
  const term = compileCondition(data, variablesOf(triggers, outside), outside);
  if (!isRelation(term) || !KEYED.has(term.path.kind) || term.path.part !== null) return null;
  const ofPath = safely((around) => keyOfLeaves(term, around));
  const ofOperand = safely((around) => keyOfValue(term.operand.evaluate(around)));
  return pathOnLeft ? { left: ofPath, right: ofOperand } : { left: ofOperand, right: ofPath };
}

/** Kinds whose equality goes by the value alone; the others (names of resources…) have spellings of their own. */
const KEYED: ReadonlySet<ConditionPath['kind']> = new Set(['Json', 'String', 'Id', 'Integer', 'Real', 'Decimal', 'Currency', 'DateTime']);

type Relation = PathTerm & { readonly operand: { readonly constant: false } };
const isRelation = (node: Node): node is Relation => isPathTerm(node) && !node.operand.constant;
const isPathTerm = (node: Node): node is Term & PathTerm => node.op === 'path';

function namesIn(data: ExpressionData): string[] {
  switch (data.k) {
    case 'const':
      return [];
    case 'path':
      return [data.root];
    case 'unary':
      return namesIn(data.a);
    case 'binary':
    case 'logical':
      return [...namesIn(data.a), ...namesIn(data.b)];
    case 'ternary':
      return [...namesIn(data.c), ...namesIn(data.a), ...namesIn(data.b)];
    case 'call':
      return data.args.flatMap(namesIn);
    case 'array':
      return data.items.flatMap(namesIn);
    case 'object':
      return data.members.flatMap(([, value]) => namesIn(value));
    case 'index':
      return [...namesIn(data.a), ...namesIn(data.i)];
  }
}

/** What raises an error is told when the condition itself is decided. */
const safely =
  (keyOf: KeyOf): KeyOf =>
  (around) => {
    try {
      return keyOf(around);
    } catch {
      return ANY;
    }
  };

function together(keys: readonly KeyOf[]): KeyOf {
  const [only] = keys;
  if (keys.length === 1 && only) return only;
  return (around) => {
    const parts: string[] = [];
    for (const keyOf of keys) {
      const key = keyOf(around);
      if (key === ANY) return ANY;
      parts.push(String(key));
    }
    return parts.join('\n');
  };
}

function keyOfLeaves(term: Relation, around: Surrounding): JoinKey {
  const { values, positioned, missing } = leavesAt(term, around);
  if (values.length === 0 && positioned.length === 0) return NULL;
  return missing || values.length !== 1 || positioned.length > 0 ? ANY : keyOfValue(values[0] ?? null);
}

/** One key for all values that any row of language.md 4.7, or a conversion to a declared type, may find equal. */
function keyOfValue(value: Value): JoinKey {
  if (value === null) return NULL;
  if (typeof value === 'string') return keyOfText(value);
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return numberKey(numberOf(value));
  if (value instanceof DateTime) return value.ms;
  if (value instanceof Decimal) return decimalKey(value);
  if (value instanceof Currency) return decimalKey(value.amount);
  return isReference(value) ? keyOfText(text(value)) : ANY;
}

/** Beginnings of what is a word, and neither a number, an instant nor an amount of money. */
const WORD = /^(?:[A-Za-z_/](?![A-Z]{2}:)|[^\s\d+\-.A-Za-z_/])/;

function keyOfText(written: string): JoinKey {
  if (WORD.test(written) || written === '') return written;
  const trimmed = written.trim();
  const instant = parseDateTime(trimmed);
  if (instant) return instant.ms;
  const { amount, currency } = numbersIn(trimmed);
  const number = amount ?? currency?.amount;
  return number ? decimalKey(number) : written;
}

/** The nearest double: numbers that are one key and not equal are told apart by the condition. */
const decimalKey = (value: Decimal): JoinKey => numberKey(Number(value.toString()));
const numberKey = (double: number): JoinKey => (Number.isFinite(double) ? double : String(double));
