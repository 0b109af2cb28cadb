// The entries of one event path: each by its anchors, or in the list that every event is tested against.
import type { Node } from './terms.ts';
import { type Anchor, chooseAnchors, pathKey } from './anchors.ts';
import type { Entry, EntrySet, Visit } from './entry.ts';
import { PathIndex } from './path-index.ts';
import type { IndexedRule, EvaluationContext } from './types.ts';
import type { ConditionPath } from '../../model/query/index.ts';

const NOWHERE: readonly EntrySet[] = [];

export class EventIndex {
  /** The paths that conditions on this kind of event use. */
  readonly variablePaths = new Map<string, ConditionPath>();
  readonly #paths = new Map<string, PathIndex>();
  /** All path indexes, in order. */
  #inOrder: readonly PathIndex[] = [];
  readonly #rest = new Set<Entry>();
  readonly #event: string;
  /** The number of entries. */
  size = 0;

  /** @param event the event path */
  constructor(event: string) {
    this.#event = event;
  }

  add(rule: IndexedRule, trigger: number, condition: Node | null, where: Node | null, asks: boolean): Entry {
    const choice = condition && chooseAnchors(condition, (anchor) => this.#paths.get(pathKey(anchor.term))?.cardinality(anchor) ?? 0);
    const residual = condition && without(condition, choice?.settled ?? []);
    const entry: Entry = {
      rule,
      path: this.#event,
      trigger,
      condition,
      residual,
      where,
      asks,
      next: null,
      alone: [],
      holders: NOWHERE,
      alive: true,
      stamp: 0,
      undecided: 0,
    };
    entry.alone = [entry];
    if (choice) entry.holders = this.#hold(entry, choice.anchors);
    else this.#rest.add(entry);
    this.size++;
    return entry;
  }

  #hold(entry: Entry, anchors: readonly Anchor[]): readonly EntrySet[] {
    const holders = anchors.map((anchor) => this.#path(anchor).add(anchor, entry));
    return holders.length === 1 ? (holders[0] as readonly EntrySet[]) : holders.flat();
  }

  #path(anchor: Anchor): PathIndex {
    const key = pathKey(anchor.term);
    const found = this.#paths.get(key);
    if (found) return found;
    const made = new PathIndex(anchor.term);
    this.#paths.set(key, made);
    this.#inOrder = [...this.#paths.values()];
    return made;
  }

  remove(entry: Entry): void {
    if (!entry.alive) return;
    entry.alive = false;
    this.size--;
    this.#rest.delete(entry);
    for (const holder of entry.holders) holder.forget(entry);
    for (const [key, path] of this.#paths) if (path.size === 0) this.#paths.delete(key);
    if (this.#paths.size < this.#inOrder.length) this.#inOrder = [...this.#paths.values()];
  }

  /** Visits every entry that the event may satisfy, some of them more than once. */
  visit(context: EvaluationContext, visit: Visit): void {
    for (const path of this.#inOrder) path.visit(context, visit);
    if (this.#rest.size > 0) for (const entry of this.#rest) visit(entry, false);
  }
}

/** The condition without some terms of its AND; null when nothing is left. */
function without(condition: Node, settled: readonly Node[]): Node | null {
  if (settled.includes(condition)) return null;
  if (condition.op !== 'and' || settled.length === 0) return condition;
  const terms = condition.terms.flatMap((term) => without(term, settled) ?? []);
  return terms.length > 1 ? { op: 'and', terms } : (terms[0] ?? null);
}
