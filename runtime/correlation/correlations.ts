// The rules over several events of a namespace: finds those that an event concerns, restores evaluations at a start, and spills evaluations
// that wait for long from the journal to the store.

import type { Db } from 'mongodb';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { TaskTracker } from '../../platform/structures/index.ts';
import { readCompletion, type RunReference, type StoredEvent } from '../transactions/index.ts';
import { type Explanation, type IndexedRule, TriggerIndex } from '../triggers/index.ts';
import { type CorrelatedRule, type CorrelationHost, VersionGroup, waits, whenOf } from './version-group.ts';
import { EVALUATIONS, EVALUATION_TEXTS, fromStored } from './evaluation-store.ts';
import type { Evaluation } from './types.ts';

const SPILL_EVERY_MS = 1_000;

export class Correlations implements AsyncDisposable {
  readonly #host: CorrelationHost;
  readonly #busy = new TaskTracker();
  readonly #groups = new Map<string, VersionGroup>();
  /** Families with EXPECT of which no version has a TIMEOUT: they cost nothing, and are put in force with the first that has one. */
  readonly #idle = new Map<string, ReadonlyMap<string, CorrelatedRule>>();
  readonly #index: TriggerIndex;
  /** Decoded values of events that are being committed, so that their texts are not read again. */
  readonly #payloads = new WeakMap<RunReference, Value>();
  /** Groups with outcomes that are not stored yet. */
  readonly #concerned = new Set<VersionGroup>();
  readonly #moving: NodeJS.Timeout;
  /** Events that arrived before the start; null from then on. */
  #early: { readonly event: StoredEvent; readonly reference: RunReference }[] | null = [];

  constructor(host: CorrelationHost) {
    this.#host = host;
    this.#index = new TriggerIndex({
      ...host.conditions,
      onError: (rule, error) => host.failed(nameOf(rule), error),
      mayTake: ({ payload }, path, value, by) => (payload as VersionGroup).mayTake(path, value, by),
    });
    this.#moving = setInterval(() => {
      for (const group of this.#groups.values()) group.spill();
    }, SPILL_EVERY_MS);
    this.#moving.unref();
  }

  /** Number of open evaluations. */
  get open(): number {
    let open = 0;
    for (const group of this.#groups.values()) open += group.open;
    return open;
  }

  /** Throws what `put` would throw; nothing changes. */
  try(rule: CorrelatedRule): void {
    const group = new VersionGroup(this.#host, this.#busy, rule);
    group.try(rule);
    this.#index.try(indexed(group));
  }

  /** Puts a version of a rule in force. Evaluations stay when the rule is unchanged, or when other versions share them. */
  put(rule: CorrelatedRule): void {
    const { compiled, baseName } = rule;
    const known = this.#groups.get(baseName);
    if (known && known.owner.when === whenOf(compiled)) {
      const before = known.versions.get(compiled.fullName);
      const isOnly = known.versions.size === 1 && before !== undefined;
      if (!isOnly || isSame(before, rule)) {
        known.put(rule);
        return this.#restIfIdle(known);
      }
    }
    this.#end(known);
    const versions = new Map(this.#idle.get(baseName)).set(compiled.fullName, rule);
    if (![...versions.values()].some(waits)) return void this.#idle.set(baseName, versions);
    this.#idle.delete(baseName);
    const group = new VersionGroup(this.#host, this.#busy, rule);
    for (const version of versions.values()) group.put(version);
    this.#groups.set(baseName, group);
    this.#index.add(indexed(group));
    if (this.#early === null) group.start();
  }

  /** Takes a version out of force. */
  remove(baseName: string, fullName: string): void {
    const idle = new Map(this.#idle.get(baseName));
    if (idle.delete(fullName)) return void (idle.size > 0 ? this.#idle.set(baseName, idle) : this.#idle.delete(baseName));
    const group = this.#groups.get(baseName);
    if (!group?.versions.has(fullName)) return;
    group.remove(fullName);
    this.#restIfIdle(group);
  }

  /** Ends a family that waits for nothing any more. */
  #restIfIdle(group: VersionGroup): void {
    const { versions, owner } = group;
    if ([...versions.values()].some(waits)) return;
    this.#end(group);
    if (versions.size > 0) this.#idle.set(owner.rule, versions);
  }

  retype(typeName: string): void {
    this.#index.retype(typeName);
    for (const group of this.#groups.values())
      if (group.triggers.some(({ paths }) => paths.some((path) => path.startsWith(`/types/${typeName}/`)))) group.retype();
  }

  /** Whether one of the rules listens on an event path. */
  has(path: string): boolean {
    return this.#index.has(path);
  }

  /** The references of rules that an event concerns: stored with the event, and given to `arrive` after the commit. */
  match(path: string, payload: Value, event: () => ObjectValue, by = ''): RunReference[] {
    const references = new Map<VersionGroup, number[]>();
    for (const { rule, trigger } of this.#index.matchTriggers(path, payload, event, by)) {
      const group = rule.payload as VersionGroup;
      const places = references.get(group);
      if (places) places.push(trigger);
      else references.set(group, [trigger]);
    }
    return [...references].map(([group, places]) => {
      const { reference: rule, owner } = group;
      const reference: RunReference = { rule, program: owner.when, binds: 'event', places: places.sort((a, b) => a - b) };
      this.#payloads.set(reference, payload);
      return reference;
    });
  }

  /** The run of a completed rule for its completion, to be delivered once more; null where none would run. */
  again(baseName: string, { value, by }: Pick<StoredEvent, 'value' | 'by'>): RunReference | null {
    return this.#groups.get(baseName)?.again(readCompletion(value), by) ?? null;
  }

  /**
   * For each rule on the path whether the event concerns it, or the term that decided that it does not.
   * @param uuid of an event that has arrived: the open evaluations that hold it are given, too
   */
  explain(
    path: string,
    payload: Value,
    event: () => ObjectValue,
    uuid: string,
  ): (Explanation & { readonly open: readonly Evaluation[] })[] {
    return this.#index.explain(path, payload, event).map((one) => ({ ...one, open: (one.rule.payload as VersionGroup).openWith(uuid) }));
  }

  /** Takes committed events, in the order of their commits. Gives them without the references of these rules. */
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

  /** Restores the evaluations of before; those of rules that are not in force are removed. Called before `start`, again if it failed. */
  async restore(db: Db): Promise<void> {
    for (const group of this.#groups.values()) group.empty();
    const stored = db.collection(EVALUATIONS);
    const foreign = new Map<string, { rule: string; when: string }>();
    for await (const document of stored.find({}).sort({ order: 1 }).allowDiskUse()) {
      const { owner, evaluation } = await fromStored(db, document, this.#host.cipher());
      const group = this.#groups.get(owner.rule);
      if (group?.owner.when === owner.when) group.restore(evaluation);
      else foreign.set(`${owner.rule} ${owner.when}`, owner);
    }
    // Long texts go first: without their evaluation nobody would look for them.
    for (const { rule, when } of foreign.values())
      for (const name of [EVALUATION_TEXTS, EVALUATIONS]) await db.collection(name).deleteMany({ rule, when });
  }

  /** From now on events count and time passes. @param order events recovered from dead processes, in the order of their arrival */
  start(order: readonly StoredEvent[]): void {
    const early = this.#early ?? [];
    this.#early = null;
    const rank = new Map(order.map(({ uuid }, i) => [uuid, i]));
    const rankOf = ({ event }: { event: StoredEvent }): number => rank.get(event.uuid) ?? order.length; // new events come last
    early.sort((a, b) => rankOf(a) - rankOf(b));
    for (const { event, reference } of early) this.#take(event, reference, rank.has(event.uuid));
    this.#flush();
    for (const group of this.#groups.values()) group.start();
  }

  /** Not started: another process keeps the evaluations of this namespace. */
  get areAsleep(): boolean {
    return this.#early !== null;
  }

  get isBusy(): boolean {
    return this.#busy.isBusy;
  }

  /** Resolves when no outcome is being stored. */
  settled(): Promise<void> {
    return this.#busy.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#moving);
    for (const group of this.#groups.values()) group.stop();
    await this.settled();
  }

  #take(event: StoredEvent, reference: RunReference, isReplayed = false): void {
    const { rule, program, places } = reference;
    const group = this.#groups.get(rule.slice(1));
    if (group?.owner.when !== program) return this.#host.committer.markDone(`${event.uuid}/${rule}/1`);
    group.arrive(event, places ?? [], this.#payloads.get(reference), isReplayed);
    this.#concerned.add(group);
  }

  #flush(): void {
    for (const group of this.#concerned) group.flush();
    this.#concerned.clear();
  }

  #end(group: VersionGroup | undefined): void {
    if (!group) return;
    this.#index.remove(group.owner.rule);
    this.#groups.delete(group.owner.rule);
    group.end();
  }
}

const indexed = (group: VersionGroup): IndexedRule => {
  const { rule: name } = group.owner;
  return { name, baseName: name, version: null, triggers: group.triggers, where: null, payload: group };
};

const concernsUs = ({ runs }: StoredEvent): boolean => runs.some(({ places }) => places !== undefined);

const isSame = (a: CorrelatedRule, b: CorrelatedRule): boolean =>
  a.executable.program.id === b.executable.program.id && JSON.stringify(a.compiled.where) === JSON.stringify(b.compiled.where);

const nameOf = (rule: IndexedRule): string => (rule.payload as VersionGroup).versions.keys().next().value ?? rule.name;
