// The rules of a namespace that wait for more than one event: which events concern them, what is restored at a start, and the round that
// moves long waits from the journal to the store.

import type { Db } from 'mongodb';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { Busy } from '../../platform/structures/busy.ts';
import type { RunReference, StoredEvent } from '../transactions/index.ts';
import { type Explanation, type IndexedRule, TriggerIndex } from '../triggers/index.ts';
import { type CorrelatedRule, type CorrelationHost, Family, whenOf } from './family.ts';
import { EVALUATIONS, EVALUATION_TEXTS, fromStored } from './kept.ts';
import type { Evaluation } from './types.ts';

const MOVE_EVERY_MS = 1_000;

export class Correlations implements AsyncDisposable {
  readonly #host: CorrelationHost;
  readonly #busy = new Busy();
  readonly #families = new Map<string, Family>();
  readonly #index: TriggerIndex;
  /** The values of events on their way to the store and back, so that they need not be read from their text again. */
  readonly #payloads = new WeakMap<RunReference, Value>();
  /** Those to which something has happened since they stored what follows. */
  readonly #concerned = new Set<Family>();
  readonly #moving: NodeJS.Timeout;
  /** Events that came before the start; null from then on. */
  #early: { readonly event: StoredEvent; readonly reference: RunReference }[] | null = [];

  constructor(host: CorrelationHost) {
    this.#host = host;
    this.#index = new TriggerIndex({ ...host.conditions, onError: (rule, error) => host.failed(nameOf(rule), error) });
    this.#moving = setInterval(() => {
      for (const family of this.#families.values()) family.move();
    }, MOVE_EVERY_MS);
    this.#moving.unref();
  }

  /** Evaluations that are open. */
  get open(): number {
    let open = 0;
    for (const family of this.#families.values()) open += family.open;
    return open;
  }

  /** Puts a version of a rule in force. What its trigger waits for stays when nothing of the rule has changed, or others share it. */
  put(rule: CorrelatedRule): void {
    const { compiled, baseName, executable } = rule;
    const known = this.#families.get(baseName);
    if (known && known.owner.when === whenOf(compiled)) {
      const before = known.versions.get(compiled.fullName);
      const isOnly = known.versions.size === 1 && before !== undefined;
      if (!isOnly || isSame(before, rule)) return known.put(rule);
    }
    this.#end(known);
    const family = new Family(this.#host, this.#busy, rule);
    family.put({ compiled, baseName, executable });
    this.#families.set(baseName, family);
    this.#index.add({ name: baseName, baseName, version: null, triggers: family.triggers, where: null, payload: family });
    if (this.#early === null) family.start();
  }

  /** A version is no longer in force. */
  remove(baseName: string, fullName: string): void {
    const family = this.#families.get(baseName);
    if (!family?.versions.has(fullName)) return;
    family.remove(fullName);
    if (family.versions.size > 0) return;
    this.#end(family);
  }

  retype(typeName: string): void {
    this.#index.retype(typeName);
    for (const family of this.#families.values())
      if (family.triggers.some(({ paths }) => paths.some((path) => path.startsWith(`/types/${typeName}/`)))) family.retype();
  }

  /** Whether any of the rules is on an event path. */
  has(path: string): boolean {
    return this.#index.has(path);
  }

  /** What an event is needed for: stored with it, and handed to `arrive` after the commit. */
  match(path: string, payload: Value, event: () => ObjectValue): RunReference[] {
    const references = new Map<Family, number[]>();
    for (const { rule, trigger } of this.#index.matchTriggers(path, payload, event)) {
      const family = rule.payload as Family;
      const places = references.get(family);
      if (places) places.push(trigger);
      else references.set(family, [trigger]);
    }
    return [...references].map(([family, places]) => {
      const { reference: rule, owner } = family;
      const reference: RunReference = { rule, program: owner.when, binds: 'event', places: places.sort((a, b) => a - b) };
      this.#payloads.set(reference, payload);
      return reference;
    });
  }

  /**
   * For each rule on the path whether the event concerns it, or the term that decided that it does not.
   * @param uuid of an event that has come: the evaluations in which it still stands
   */
  explain(
    path: string,
    payload: Value,
    event: () => ObjectValue,
    uuid: string,
  ): (Explanation & { readonly open: readonly Evaluation[] })[] {
    return this.#index.explain(path, payload, event).map((one) => ({ ...one, open: (one.rule.payload as Family).openWith(uuid) }));
  }

  /** Committed events, in the order of their commits. Gives them without what is done here. */
  arrive(events: readonly StoredEvent[]): readonly StoredEvent[] {
    if (!events.some(concernsUs)) return events;
    const left = events.map((event) => {
      if (!concernsUs(event)) return event;
      for (const reference of event.runs) {
        if (!reference.places) continue;
        if (this.#early) this.#early.push({ event, reference });
        else this.#take(event, reference);
      }
      return { ...event, runs: event.runs.filter(({ places }) => !places) };
    });
    this.#flush();
    return left;
  }

  /** Takes back what was open when the service ended; what no rule in force waits for is removed. Before `start`; once more when it fails. */
  async restore(db: Db): Promise<void> {
    for (const family of this.#families.values()) family.empty();
    const stored = db.collection(EVALUATIONS);
    const foreign = new Map<string, { rule: string; when: string }>();
    for await (const document of stored.find({}).sort({ order: 1 }).allowDiskUse()) {
      const { owner, evaluation } = await fromStored(db, document, this.#host.cipher());
      const family = this.#families.get(owner.rule);
      if (family?.owner.when === owner.when) family.restore(evaluation);
      else foreign.set(`${owner.rule} ${owner.when}`, owner);
    }
    // First what stands beside them: without the evaluation nobody would look for it.
    for (const { rule, when } of foreign.values())
      for (const name of [EVALUATION_TEXTS, EVALUATIONS]) await db.collection(name).deleteMany({ rule, when });
  }

  /** From now on events count and time passes. @param order the events taken over from dead processes, in the order in which they came */
  start(order: readonly StoredEvent[]): void {
    const early = this.#early ?? [];
    this.#early = null;
    const rank = new Map(order.map(({ uuid }, i) => [uuid, i]));
    const rankOf = ({ event }: { event: StoredEvent }): number => rank.get(event.uuid) ?? order.length; // what is new comes last
    early.sort((a, b) => rankOf(a) - rankOf(b));
    for (const { event, reference } of early) this.#take(event, reference, rank.has(event.uuid));
    this.#flush();
    for (const family of this.#families.values()) family.start();
  }

  /** Nothing has been started: another process keeps what the rules of the namespace wait for. */
  get areAsleep(): boolean {
    return this.#early !== null;
  }

  get isBusy(): boolean {
    return this.#busy.isBusy;
  }

  /** Resolves when nothing is being stored. */
  settled(): Promise<void> {
    return this.#busy.over();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#moving);
    for (const family of this.#families.values()) family.stop();
    await this.settled();
  }

  #take(event: StoredEvent, reference: RunReference, isReplayed = false): void {
    const { rule, program, places } = reference;
    const family = this.#families.get(rule.slice(1));
    if (family?.owner.when !== program) return this.#host.committer.markDone(`${event.uuid}/${rule}/1`);
    family.arrive(event, places ?? [], this.#payloads.get(reference), isReplayed);
    this.#concerned.add(family);
  }

  #flush(): void {
    for (const family of this.#concerned) family.flush();
    this.#concerned.clear();
  }

  #end(family: Family | undefined): void {
    if (!family) return;
    this.#index.remove(family.owner.rule);
    this.#families.delete(family.owner.rule);
    family.end();
  }
}

const concernsUs = ({ runs }: StoredEvent): boolean => runs.some(({ places }) => places !== undefined);

const isSame = (a: CorrelatedRule, b: CorrelatedRule): boolean =>
  a.executable.program.id === b.executable.program.id && JSON.stringify(a.compiled.where) === JSON.stringify(b.compiled.where);

const nameOf = (rule: IndexedRule): string => (rule.payload as Family).versions.keys().next().value ?? rule.name;
