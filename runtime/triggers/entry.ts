// One trigger of one rule on one event path: what hangs in the structures of the index.
import type { Node } from './terms.ts';
import type { Chosen, IndexedRule } from './types.ts';

export interface Entry {
  readonly rule: IndexedRule;
  /** Index into `rule.triggers`. */
  readonly trigger: number;
  /** The whole condition; null without one. */
  readonly condition: Node | null;
  /** What of it an event that meets the anchor exactly leaves open; null when nothing. */
  readonly residual: Node | null;
  /** RULE … WHERE, for this trigger's variable. */
  readonly where: Node | null;
  /** A program decides the rest of both. */
  readonly asks: boolean;
  /** What an event gives that only this rule takes: that alone. */
  readonly alone: readonly Chosen[];
  /** False once it is removed; structures that sweep later still hold it for a while. */
  alive: boolean;
  /** The number of the event that last met it, so that several anchors yield it once. */
  stamp: number;
  /** The number of the event whose condition would have taken too long to decide here. */
  undecided: number;
}

/** @param exact the event's value alone satisfies the anchor's terms; else the whole condition is open */
export type Visit = (entry: Entry, exact: boolean) => void;

/** Something that entries hang in. */
export interface EntrySet {
  /** Called once for each time the entry was put in; `entry.alive` is false by then. */
  forget(entry: Entry): void;
  readonly size: number;
}
