// Chooses the term of a condition by which a rule is found: the one that fewest events satisfy. Every event that satisfies the condition
// satisfies the anchor.
import type { Constant, Test } from '../../model/query/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { constantKeys, type Key } from './keys.ts';
import { nextDown, nextUp } from './doubles.ts';
import { boundPositions, isExact, type Line, standsAlone } from './positions.ts';
import { isComparedAsData, type Node, type PathTerm } from './terms.ts';

/** A closed interval. */
export interface Span {
  readonly line: Line;
  readonly low: number;
  readonly high: number;
}

export type Anchor =
  | { readonly kind: 'keys'; readonly term: PathTerm; readonly keys: readonly Key[] }
  | { readonly kind: 'spans'; readonly term: PathTerm; readonly spans: readonly Span[] }
  | { readonly kind: 'prefix'; readonly term: PathTerm; readonly prefix: string };

export interface Choice {
  /** One anchor, or one for each branch of an OR. */
  readonly anchors: readonly Anchor[];
  /** Terms of the condition's AND that every event which matches the anchor exactly satisfies: they need no test then. */
  readonly settled: readonly Node[];
}

/** Number of values from which on an IN is an anchor only as a last resort. */
const MANY_KEYS = 256;

/** @param cardinality how many entries an anchor has now @returns null when no term of the condition can be looked up */
export function chooseAnchors(condition: Node, cardinality: (anchor: Anchor) => number): Choice | null {
  const terms = condition.op === 'and' ? flattened(condition.terms) : [condition];
  let best: Choice | null = null;
  let bestCost: Cost | null = null;
  for (const choice of choicesOf(terms, cardinality)) {
    const cost = costOf(choice, cardinality);
    if (bestCost === null || cost.rank < bestCost.rank || (cost.rank === bestCost.rank && cost.cardinality < bestCost.cardinality))
      [best, bestCost] = [choice, cost];
  }
  return best;
}

const flattened = (terms: readonly Node[]): Node[] => terms.flatMap((term) => (term.op === 'and' ? flattened(term.terms) : [term]));

interface Cost {
  readonly rank: number;
  readonly cardinality: number;
}

function costOf({ anchors }: Choice, cardinality: (anchor: Anchor) => number): Cost {
  return {
    rank: Math.max(...anchors.map(rankOf)) + (anchors.length > 1 ? 0.5 : 0),
    cardinality: anchors.reduce((sum, anchor) => sum + cardinality(anchor), 0),
  };
}

/** The order of preference: eq, in, two-sided range, prefix, one-sided range, a long in. */
function rankOf(anchor: Anchor): number {
  if (anchor.kind === 'keys') return anchor.term.operator === '==' ? 0 : anchor.keys.length > MANY_KEYS ? 5 : 1;
  if (anchor.kind === 'prefix') return 3;
  return anchor.spans.every(({ low, high }) => Number.isFinite(low) && Number.isFinite(high)) ? 2 : 4;
}

function* choicesOf(terms: readonly Node[], cardinality: (anchor: Anchor) => number): Generator<Choice> {
  const ranges = new Map<string, PathTerm[]>();
  for (const node of terms) {
    if (node.op === 'or') {
      const branches = node.terms.map((term) => chooseAnchors(term, cardinality));
      if (branches.every((branch) => branch !== null)) yield { anchors: branches.flatMap(({ anchors }) => anchors), settled: [] };
    } else if (node.op === 'path') {
      const anchor = keysAnchor(node) ?? prefixAnchor(node);
      if (anchor) yield { anchors: [anchor], settled: anchor.kind === 'keys' && node.path.kind !== 'Json' ? [node] : [] };
      const key = pathKey(node);
      if (isRange(node)) ranges.set(key, [...(ranges.get(key) ?? []), node]);
    }
  }
  for (const sides of ranges.values()) {
    const choice = spansChoice(sides);
    if (choice) yield choice;
  }
}

/** A key for terms that read the same values in the same way. */
export const pathKey = ({ source, path }: PathTerm): string =>
  `${source} ${path.kind} ${path.steps.join('.')}${path.part ? `#${path.part}` : ''}`;

/** The constants that a term compares with, converted; null when they are not known beforehand, or not usable. */
function constantsOf({ operator, path, operand }: PathTerm): readonly Constant[] | null {
  if (!operand.constant || operand.test instanceof CascadeError) return null;
  if (isComparedAsData(path, operator)) return operator === 'in' ? (Array.isArray(operand.value) ? operand.value : null) : [operand.value];
  const test: Test | null = operand.test;
  if (test === null) return null;
  return 'values' in test ? test.values : 'value' in test ? [test.value] : null;
}

function keysAnchor(term: PathTerm): Anchor | null {
  if (term.operator !== '==' && term.operator !== 'in') return null;
  const constants = constantsOf(term);
  if (!constants) return null;
  const keys = new Set<Key>();
  for (const constant of constants) {
    const own = Array.isArray(constant) ? null : constantKeys(term.path.kind, constant);
    if (!own) return null;
    for (const key of own) keys.add(key);
  }
  return { kind: 'keys', term, keys: [...keys] };
}

function prefixAnchor(term: PathTerm): Anchor | null {
  const { operand } = term;
  if (term.operator !== 'regex' || !operand.constant || operand.test instanceof CascadeError || operand.test?.op !== 'regex') return null;
  const { prefix } = operand.test.pattern;
  return prefix === '' ? null : { kind: 'prefix', term, prefix };
}

const isRange = ({ operator }: PathTerm): boolean => operator === '<' || operator === '<=' || operator === '>' || operator === '>=';

/** The narrowest span that the terms leave on each line. A line that one of the terms does not use is unusable for all. */
function spansChoice(terms: readonly PathTerm[]): Choice | null {
  const spans = new Map<Line, { low: number; high: number }>([
    ['numbers', { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }],
    ['texts', { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }],
  ]);
  let first: PathTerm | null = null;
  const settled: Node[] = [];
  for (const side of terms) {
    const bound = constantsOf(side)?.[0];
    if (bound === undefined || bound === null || typeof bound === 'boolean' || Array.isArray(bound)) continue;
    first ??= side;
    const open = !side.operator.endsWith('=');
    const strict = open && standsAlone(side.path.kind, bound);
    if (side.path.kind !== 'Json' && isExact(bound) && (strict || !open)) settled.push(side);
    const positions = new Map(boundPositions(side.path.kind, bound).map(({ line, at }) => [line, at]));
    for (const [line, span] of [...spans]) {
      const at = positions.get(line);
      if (at === undefined) spans.delete(line);
      else if (side.operator.startsWith('<')) span.high = Math.min(span.high, strict ? nextDown(at) : at);
      else span.low = Math.max(span.low, strict ? nextUp(at) : at);
    }
  }
  if (!first) return null;
  const anchor: Anchor = { kind: 'spans', term: first, spans: [...spans].map(([line, { low, high }]) => ({ line, low, high })) };
  return { anchors: [anchor], settled };
}
