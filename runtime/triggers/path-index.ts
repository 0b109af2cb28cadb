// All anchors on one path of one kind of event: the values there are read once, and looked up in each structure.
import type { Value } from '../../stdlib/values/index.ts';
import { type Leaves, leavesThrough, plainValue } from '../../model/query/index.ts';
import type { Anchor, Span } from './anchors.ts';
import { Buckets } from './buckets.ts';
import { isNothing } from './compare-data.ts';
import { rootOf } from './compare-term.ts';
import type { Entry, EntrySet, Visit } from './entry.ts';
import { IntervalTree } from './interval-tree.ts';
import { keysOf, NULL, plainKey } from './keys.ts';
import { isExactAt, type Line, positionOf } from './positions.ts';
import { Prefixes } from './prefixes.ts';
import { SortedBounds } from './sorted-bounds.ts';
import type { PathTerm } from './terms.ts';
import type { EvaluationContext } from './types.ts';

/** The ranges on one line: two-sided ones, those with a lower bound, those with an upper bound (negated). */
class Ranges {
  readonly between = new IntervalTree();
  readonly above = new SortedBounds();
  readonly below = new SortedBounds();

  add({ low, high }: Span, entry: Entry): EntrySet {
    if (Number.isFinite(low) && Number.isFinite(high)) {
      this.between.add(low, high, entry);
      return this.between;
    }
    if (Number.isFinite(high)) {
      this.below.add(-high, entry);
      return this.below;
    }
    this.above.add(low, entry);
    return this.above;
  }

  get size(): number {
    return this.between.size + this.above.size + this.below.size;
  }

  visit(from: number, to: number, exact: boolean, visit: Visit): void {
    this.between.visit(from, to, exact, visit);
    this.above.visit(to, exact, visit);
    this.below.visit(-from, exact, visit);
  }
}

export class PathIndex {
  readonly #term: PathTerm;
  readonly #keys = new Buckets();
  readonly #prefixes = new Prefixes();
  /** What is told of each entry in one structure: one array for all of them. */
  readonly #inKeys: readonly EntrySet[] = [this.#keys];
  readonly #inPrefixes: readonly EntrySet[] = [this.#prefixes];
  readonly #ranges: Readonly<Record<Line, Ranges>> = { numbers: new Ranges(), texts: new Ranges() };

  /** Set by the first entry of a kind: an empty structure is never searched. */
  #hasKeys = false;
  #hasPrefixes = false;
  #hasRanges = false;

  /** @param term any term on the path, for the way in which values are read */
  constructor(term: PathTerm) {
    this.#term = term;
  }

  get size(): number {
    return this.#keys.size + this.#prefixes.size + this.#ranges.numbers.size + this.#ranges.texts.size;
  }

  /** The largest number of entries that are found together with the anchor: decides between anchors of one rank. */
  cardinality(anchor: Anchor): number {
    if (anchor.kind === 'keys') return anchor.keys.reduce<number>((sum, key) => sum + this.#keys.count(key), 0);
    return anchor.kind === 'prefix' ? this.#prefixes.size : this.#ranges.numbers.size + this.#ranges.texts.size;
  }

  /** @returns the structures that contain the entry now, once for each time it was added */
  add(anchor: Anchor, entry: Entry): readonly EntrySet[] {
    switch (anchor.kind) {
      case 'keys':
        this.#hasKeys = true;
        for (const key of anchor.keys) this.#keys.add(key, entry);
        return this.#inKeys;
      case 'prefix':
        this.#hasPrefixes = true;
        this.#prefixes.add(anchor.prefix, entry);
        return this.#inPrefixes;
      case 'spans':
        this.#hasRanges = true;
        return anchor.spans.map((span) => this.#ranges[span.line].add(span, entry));
    }
  }

  visit(context: EvaluationContext, visit: Visit): void {
    const root = rootOf(this.#term, context);
    const only = plainValue(root, this.#term.path);
    if (only !== undefined) this.#visitValue(only, visit);
    else this.#visitLeaves(leavesThrough(root, this.#term.path), visit);
  }

  #visitValue(value: Value, visit: Visit): void {
    const { kind } = this.#term.path;
    if (this.#hasKeys) {
      const key = plainKey(kind, value);
      if (key !== undefined) this.#keys.visit(key, true, visit);
      else for (const each of keysOf(kind, value)) this.#keys.visit(each, true, visit);
    }
    if (this.#hasPrefixes && typeof value === 'string') this.#prefixes.visit(value, visit);
    if (!this.#hasRanges) return;
    if (typeof value === 'number') return this.#ranges.numbers.visit(value, value, kind !== 'DateTime', visit);
    const position = positionOf(kind, value);
    if (position) this.#ranges[position.line].visit(position.at, position.at, isExactAt(kind, value), visit);
  }

  /**
   * Of several values one may satisfy the lower bound of a range and another the upper one: the span from the least to the greatest is
   * searched.
   */
  #visitLeaves(leaves: Leaves, visit: Visit): void {
    const { kind, indexed } = this.#term.path;
    const hulls = new Map<Line, { from: number; to: number }>();
    let isNull = isNothing(leaves, indexed);
    for (const value of elementsOf(leaves)) {
      if (value === null) isNull = true;
      for (const key of keysOf(kind, value)) this.#keys.visit(key, true, visit);
      if (typeof value === 'string') this.#prefixes.visit(value, visit);
      const position = positionOf(kind, value);
      if (!position) continue;
      const hull = hulls.get(position.line);
      if (!hull) hulls.set(position.line, { from: position.at, to: position.at });
      else [hull.from, hull.to] = [Math.min(hull.from, position.at), Math.max(hull.to, position.at)];
    }
    for (const [line, { from, to }] of hulls) {
      if (hulls.size === 1) this.#ranges[line].visit(from, to, false, visit);
      else this.#ranges[line].visit(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, false, visit); // each line may satisfy one side
    }
    if (isNull) this.#keys.visit(NULL, true, visit);
  }
}

function* elementsOf({ values, positioned }: Leaves): Generator<Value> {
  for (const value of values) {
    if (Array.isArray(value)) yield* value;
    else yield value;
  }
  yield* positioned;
}
