// A hash join of two sides of a condition: from `a.value.room == b.value.room` (terms of the top-level AND) each side gets a key, such that
// equal values have equal keys. Unequal values may share a key, so the whole condition is tested afterwards.
import type { ConditionData, ExpressionData, TriggerSpec } from '../../compiler/types.ts';
import type { Value } from '../../stdlib/values/index.ts';
import { leavesAt, rootOf } from './compare-term.ts';
import { ANY, type JoinKey, keyOfValue } from './keys.ts';
import { type ConditionPath, plainValue } from '../../model/query/index.ts';
import { compileCondition, type Node, type PathTerm, type Term } from './terms.ts';
import type { ConditionEnvironment, EvaluationContext } from './types.ts';
import { variablesOf } from './variables.ts';

/** The key function for the events of one side. */
interface JoinSide {
  /** Never throws. */
  keyOf(context: EvaluationContext): JoinKey;
  /** Whether the last key was the value itself: then values with equal exact keys are equal. */
  wasExact: boolean;
}

export interface Join {
  readonly left: JoinSide;
  readonly right: JoinSide;
  /** Whether the join decides the whole condition. */
  readonly isWhole: boolean;
}

type Side = ReadonlySet<string>;

/** The join of a condition; null when no equality relates a path of one side to an operand that the other side alone determines. */
export function joinOf(
  data: ConditionData,
  triggers: readonly TriggerSpec[],
  sides: { readonly left: Side; readonly right: Side },
  outside: ConditionEnvironment,
): Join | null {
  const terms = data.op === 'and' ? data.terms : [data];
  const pairs = terms.flatMap((term) => pairOf(term, triggers, sides, outside) ?? []);
  if (pairs.length === 0) return null;
  const isWhole = pairs.length === terms.length;
  return { left: combined(pairs.map(({ left }) => left)), right: combined(pairs.map(({ right }) => right)), isWhole };
}

function pairOf(
  data: ConditionData,
  triggers: readonly TriggerSpec[],
  { left, right }: { readonly left: Side; readonly right: Side },
  outside: ConditionEnvironment,
): { left: JoinSide; right: JoinSide } | null {
  if (data.op !== 'compare' || data.operator !== '==' || data.left.k !== 'path') return null;
  const operand = namesIn(data.right);
  const within = (side: Side): boolean => operand.length > 0 && operand.every((name) => side.has(name));
  const pathOnLeft = left.has(data.left.root) && within(right);
  if (!pathOnLeft && !(right.has(data.left.root) && within(left))) return null;
  const term = compileCondition(data, variablesOf(triggers, outside), outside);
  if (!isRelation(term) || !KEYED.has(term.path.kind) || term.path.part !== null) return null;
  const mayBeExact = EXACT.has(term.path.kind);
  const ofPath = new ValueSide((context) => onlyLeaf(term, context), mayBeExact);
  const ofOperand = new ValueSide(term.operand.evaluate, mayBeExact);
  return pathOnLeft ? { left: ofPath, right: ofOperand } : { left: ofOperand, right: ofPath };
}

/** Kinds whose equality depends on the value alone; the others (names of resources…) have several spellings. */
const KEYED: ReadonlySet<ConditionPath['kind']> = new Set(['Json', 'String', 'Id', 'Integer', 'Real', 'Decimal', 'Currency', 'DateTime']);

/** Kinds of which equal texts, or equal doubles, are always equal. */
const EXACT: ReadonlySet<ConditionPath['kind']> = new Set(['Json', 'String', 'Integer', 'Real']);

type Relation = PathTerm & { readonly operand: { readonly constant: false } };
const isRelation = (node: Node): node is Relation => isPathTerm(node) && !node.operand.constant;
const isPathTerm = (node: Node): node is Term & PathTerm => node.op === 'path';

function namesIn(data: ExpressionData): string[] {
  switch (data.k) {
    case 'const':
      return [];
    case 'asked':
      return ['']; // not a variable: the operand belongs to neither side
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

class ValueSide implements JoinSide {
  readonly #valueOf: (context: EvaluationContext) => Value | typeof ANY;
  readonly #mayBeExact: boolean;
  wasExact = false;

  constructor(valueOf: (context: EvaluationContext) => Value | typeof ANY, mayBeExact: boolean) {
    this.#valueOf = valueOf;
    this.#mayBeExact = mayBeExact;
  }

  keyOf(context: EvaluationContext): JoinKey {
    this.wasExact = false;
    try {
      const value = this.#valueOf(context);
      const key = value === ANY ? ANY : keyOfValue(value);
      this.wasExact = this.#mayBeExact && key === value;
      return key;
    } catch {
      return ANY; // the error is reported when the condition itself is decided
    }
  }
}

function combined(sides: readonly JoinSide[]): JoinSide {
  const [only] = sides;
  return sides.length === 1 && only ? only : new SeveralSides(sides);
}

const SEPARATOR = '\n';

class SeveralSides implements JoinSide {
  readonly #sides: readonly JoinSide[];
  wasExact = false;

  constructor(sides: readonly JoinSide[]) {
    this.#sides = sides;
  }

  keyOf(context: EvaluationContext): JoinKey {
    let whole = '';
    this.wasExact = true;
    for (const side of this.#sides) {
      const key = side.keyOf(context);
      if (key === ANY) {
        this.wasExact = false;
        return ANY;
      }
      const part = String(key);
      this.wasExact &&= side.wasExact && !part.includes(SEPARATOR);
      whole += part + SEPARATOR;
    }
    return whole;
  }
}

/** The value at the end of the path, where it is a single one; null where there is none. */
function onlyLeaf(term: Relation, context: EvaluationContext): Value | typeof ANY {
  const plain = plainValue(rootOf(term, context), term.path);
  if (plain !== undefined) return plain;
  const { values, positioned, missing } = leavesAt(term, context);
  if (values.length === 0 && positioned.length === 0) return null;
  return missing || values.length !== 1 || positioned.length > 0 ? ANY : (values[0] ?? null);
}
