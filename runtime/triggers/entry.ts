// An entry of the index: one trigger of one rule on one event path.
import type { Node } from './terms.ts';
import type { Chosen, IndexedRule } from './types.ts';

export interface Entry extends Chosen {
  readonly rule: IndexedRule;
  /** That of the events. */
  readonly path: string;
  /** Index into `rule.triggers`. */
  readonly trigger: number;
  /** The whole condition; null without one. */
  readonly condition: Node | null;
  /** The part of the condition that is undecided for an event which matches the anchor exactly; null when none is. */
  readonly residual: Node | null;
  /** The rule's own WHERE (RULE … WHERE), for this trigger's variable. */
  readonly where: Node | null;
  /** Whether a program decides the rest of both. */
  readonly asks: boolean;
  /** As what is chosen, it is chosen alone. */
  readonly next: null;
  /** The result for an event that only this rule takes: the entry itself. There may be 100,000 of them, so each object counts. */
  alone: readonly Chosen[];
  /** The structures that contain it, once for each time it was added. */
  holders: readonly EntrySet[];
  /** False once it is removed; structures that clean up lazily still contain it for a while. */
  alive: boolean;
  /** The number of the last event that matched it, so that several anchors give it once. */
  stamp: number;
  /** The number of the event whose condition would have taken too long to decide in this process. */
  undecided: number;
}

/** @param exact the event's value satisfies the anchor's terms by itself; otherwise the whole condition is to be tested */
export type Visit = (entry: Entry, exact: boolean) => void;

/** A structure that contains entries. */
export interface EntrySet {
  /** Called once for each time the entry was added; `entry.alive` is false by then. */
  forget(entry: Entry): void;
  readonly size: number;
}
