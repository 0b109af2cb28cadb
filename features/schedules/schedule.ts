// The schedule of a namespace: publishes scheduled events (integrations.md 10.4), and runs scheduled procedures of services (language.md
// Y9). A delivery and the event's next time are one transaction: the first process that commits it has delivered, and no other can.

import { encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import { TaskTracker } from '../../platform/structures/index.ts';
import type { Timer } from '../../platform/clock/index.ts';
import { Fenced, type LogEntry, type UnitOfWork, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { DueHeap } from '../../runtime/timers/index.ts';
import { isRetryable } from '../../platform/mongo/index.ts';
import { tickUuids } from './tick-uuids.ts';
import { afterTick, dueOf, isActive } from './scheduledevents-kind.ts';
import { refresh } from '../../resources/definitions/index.ts';
import { definitionRemoval, definitionWrite, type Namespace } from '../../resources/catalog/index.ts';
import { publishTopic } from '../topics/index.ts';
import { serviceMessage } from '../diagnostics/index.ts';
import { calledAs, creatorOf } from '../../resources/access/index.ts';
import { versionOf } from '../../resources/representation/index.ts';

const KIND = 'scheduledevents';
const HOUR_MS = 3_600_000;
/** Concurrent deliveries. */
const MOST_AT_ONCE = 500;
/** The delay after a failed delivery; it doubles with each further failure. */
const RETRY_MS = 500;
const MOST_RETRY_MS = 60_000;

/** The stored event differs from the one to be delivered: another delivery or a change, here or in another process, has come first. */
class StaleEvent extends Error {
  /** The version that was to be delivered. */
  readonly version: bigint;
  constructor(name: string, version: bigint) {
    super(`the scheduled event ${name} has changed`);
    this.version = version;
  }
}

interface ScheduledProcedure {
  readonly service: string;
  readonly procedure: string;
  readonly everyMs: number;
  /** The definition of the service. */
  readonly stored: ObjectValue;
}

export class Schedule implements AsyncDisposable {
  readonly #space: () => Namespace;
  readonly #busy = new TaskTracker();
  /** Ends the procedures that run. */
  readonly #ending = new AbortController();
  readonly #events = new DueHeap();
  readonly #procedures = new DueHeap();
  readonly #byKey = new Map<string, ScheduledProcedure>();
  readonly #running = new Set<string>();
  /** Consecutive failures, by event name. */
  readonly #failures = new Map<string, number>();
  /** By event name, what the topic last refused its message with: the same is told once. */
  readonly #refusals = new Map<string, string>();
  #timer: { readonly timer: Timer; readonly timeMs: number } | null = null;
  #underWay = 0;
  #isOpen = false;

  constructor(space: () => Namespace) {
    this.#space = space;
  }

  /** Starts to deliver; events that became due while the service was stopped are delivered at once. */
  start(): void {
    this.#isOpen = true;
    const { definitions } = this.#space().catalog;
    for (const [name, object] of definitions.list(KIND)) this.put(name, object);
    for (const [name, object] of definitions.list('services')) this.putService(name, object);
    this.#arm();
  }

  put(name: string, object: ObjectValue): void {
    if (isActive(object)) this.#events.set(name, dueOf(object));
    else this.#events.remove(name);
    this.#arm();
  }

  remove(name: string): void {
    this.#events.remove(name);
    this.#failures.delete(name);
    this.#refusals.delete(name);
  }

  /** Schedules the `scheduledProcedures` of a service; an inactive one has none. */
  putService(service: string, object: ObjectValue): void {
    this.removeService(service);
    const scheduled = Object.hasOwn(object, 'scheduledProcedures') ? getOwn(object, 'scheduledProcedures') : null;
    if (!isObject(scheduled) || getOwn(object, 'active') === false) return;
    for (const name of Object.keys(scheduled)) {
      const everyMs = Number(getOwn(scheduled, name));
      const procedure = name.startsWith(`${service}.`) ? name : `${service}.${name}`;
      this.#byKey.set(procedure, { service, procedure, everyMs, stored: object });
      this.#procedures.set(procedure, nextAligned(everyMs, this.#space().clock.now()));
    }
    this.#arm();
  }

  removeService(service: string): void {
    for (const [key, one] of this.#byKey)
      if (one.service === service) {
        this.#byKey.delete(key);
        this.#procedures.remove(key);
      }
  }

  /** Whether nothing is scheduled. */
  get isEmpty(): boolean {
    return this.#events.size + this.#procedures.size === 0;
  }

  get isBusy(): boolean {
    return this.#busy.isBusy;
  }

  settled(): Promise<void> {
    return this.#busy.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    this.#timer?.timer.cancel();
    this.#ending.abort(new Fenced('the namespace is closed here')); // a run has no end that could be waited for
    await this.settled();
  }

  #arm(): void {
    if (!this.#isOpen) return;
    const times = [this.#events.nextMs(), this.#procedures.nextMs()].filter((time) => time !== null);
    if (times.length === 0 || this.#underWay >= MOST_AT_ONCE) return;
    const timeMs = Math.min(...times);
    if (this.#timer && this.#timer.timeMs <= timeMs) return;
    this.#timer?.timer.cancel();
    this.#timer = { timeMs, timer: this.#space().clock.at(timeMs, () => this.#due()) };
  }

  #due(): void {
    this.#timer = null;
    const nowMs = this.#space().clock.now();
    for (const { name } of this.#events.takeDue(nowMs, MOST_AT_ONCE - this.#underWay)) {
      this.#underWay++;
      this.#busy.track(
        this.#deliver(name).finally(() => {
          this.#underWay--;
          this.#arm();
        }),
      );
    }
    for (const { name } of this.#procedures.takeDue(nowMs)) this.#run(name, nowMs);
    this.#arm();
  }

  // ------------------------------------------------------------ events
  /** Delivers a due event and schedules its next time, or a retry after a failure. */
  async #deliver(name: string): Promise<void> {
    const space = this.#space();
    await space.execution.runs.backpressure.whenRelieved();
    const stored = space.catalog.definitions.get(KIND, name);
    if (!stored) return;
    if (!isActive(stored) || dueOf(stored) > space.clock.now()) return this.put(name, stored); // changed meanwhile
    let next: ObjectValue | null;
    try {
      next = afterTick(stored, space.clock.now());
      await this.#publish(space, name, stored, next);
    } catch (error) {
      if (error instanceof Fenced) return; // the next owner delivers it
      return this.#reschedule(space, name, error);
    }
    this.#failures.delete(name);
    if (next) {
      space.catalog.definitions.put(KIND, name, next);
      this.put(name, next);
    } else {
      space.catalog.definitions.remove(KIND, name);
      this.#refusals.delete(name);
    }
  }

  /** Reschedules an event that was not delivered: at the time of the stored event if that has changed, else for a retry. */
  async #reschedule(space: Namespace, name: string, error: unknown): Promise<void> {
    try {
      if (error instanceof StaleEvent) {
        await refresh(space, KIND, name); // the change may not have reached this process
        const stored = space.catalog.definitions.get(KIND, name);
        if (stored && versionOf(stored) !== error.version) {
          this.#failures.delete(name);
          return this.put(name, stored);
        }
      }
    } catch (reason) {
      if (!isRetryable(reason))
        space.log.error({ err: reason, name, namespace: space.name }, 'a scheduled event could not be read after a version conflict');
    }
    const stored = space.catalog.definitions.get(KIND, name);
    if (!stored || !isActive(stored)) return;
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    if (!isRetryable(error) && !(error instanceof StaleEvent))
      space.log.error(
        { err: error, name, namespace: space.name, failures },
        'a scheduled event could not be delivered and will be retried',
      );
    this.#events.set(name, space.clock.now() + Math.min(RETRY_MS * 2 ** (failures - 1), MOST_RETRY_MS));
  }

  async #publish(space: Namespace, name: string, stored: ObjectValue, next: ObjectValue | null): Promise<void> {
    const isTransient = getOwn(stored, 'isTransient') === true;
    const change: Write = next ? definitionWrite(KIND, name, next, stored) : definitionRemoval(stored);
    const id = 'id' in change ? change.id : null;
    let isStored = isTransient;
    /**
     * The first stored unit makes the delivery: each attempt to store it includes the change of the event, which only one process can make.
     */
    const commit = async (unit: UnitOfWork): Promise<void> => {
      const mine = isStored ? [] : [change];
      try {
        await space.transactions.submit({ ...unit, writes: [...mine, ...unit.writes] }, true);
      } catch (error) {
        const isOurs = error instanceof VersionConflict && error.collection === change.collection && id !== null && error.id.equals(id);
        throw isOurs ? new StaleEvent(name, versionOf(stored)) : error;
      }
      isStored = true;
    };
    const identity = identityOf(space, getOwn(stored, 'ars_createdBy'));
    let refusal: CascadeError | null = null;
    const tick = { namespace: space.name, name, plannedMs: dueOf(stored), id: String(getOwn(stored, '_id')), version: versionOf(stored) };
    // Of one that is not stored no commit tells whether an earlier attempt has come through: its events must not meet their own uuids.
    const creator: Actor = { ...serviceActor(space), identity, commit, ...(!isTransient && { eventUuids: tickUuids(tick) }) };
    try {
      await publishTopic(space, String(getOwn(stored, 'topic')), getOwn(stored, 'message'), creator);
    } catch (error) {
      if (!(error instanceof CascadeError)) throw error;
      refusal = error;
    }
    const logs = this.#entriesFor(space, name, identity.username, refusal);
    // where no rule or subscription listens, the schedule continues without an event
    if (!isStored || logs.length > 0) await commit({ writes: [], events: [], logs });
    if (refusal) this.#refusals.set(name, refusal.message);
    else this.#refusals.delete(name);
  }

  /** The message for the owner of a scheduled event that its topic refuses it, unless the same was told at the time before. */
  #entriesFor(space: Namespace, name: string, username: string, refusal: CascadeError | null): LogEntry[] {
    if (!refusal || this.#refusals.get(name) === refusal.message) return [];
    const message = `${refusal.code}: ${refusal.message}`;
    return [serviceMessage(space, { level: 'ERROR', message, resource: { resource: KIND, resourceId: name }, username })];
  }

  // ------------------------------------------------------------ procedures
  #run(key: string, nowMs: number): void {
    const one = this.#byKey.get(key);
    if (!one) return;
    const space = this.#space();
    this.#procedures.set(key, nextAligned(one.everyMs, nowMs));
    if (this.#running.has(key) || !space.catalog.definitions.get('procedures', one.procedure)) return; // runs never overlap
    this.#running.add(key);
    const run = runAs(space, one, this.#ending.signal);
    this.#busy.track(
      run
        .then(
          () => undefined,
          (error: unknown) => space.log.warn({ err: error, procedure: key, namespace: space.name }, 'a scheduled procedure failed'),
        )
        .finally(() => this.#running.delete(key)),
    );
  }
}

/** Runs the procedure as the creator of the service (resources-and-api.md 7.6). */
async function runAs(space: Namespace, { procedure, service, stored }: ScheduledProcedure, signal: AbortSignal): Promise<string> {
  return runDirect(space.execution.runs, {
    executable: { resource: `/procedures/${procedure}`, name: procedure, service },
    body: { program: null, procedure },
    argsJson: encodeInner([]),
    identity: calledAs(space, procedure, await creatorOf(space, stored)),
    caller: { chain: { root: null, depth: 0 }, childRunIds: null, depth: 0, signal },
    snapshot: 'always',
  });
}

/** The next run: intervals below an hour are multiples from the full hour on; longer ones are multiples since the epoch (UTC). */
function nextAligned(everyMs: number, nowMs: number): number {
  if (everyMs >= HOUR_MS) return (Math.floor(nowMs / everyMs) + 1) * everyMs;
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return Math.min(hourMs + (Math.floor((nowMs - hourMs) / everyMs) + 1) * everyMs, hourMs + HOUR_MS);
}

const identityOf = (space: Namespace, username: Value): Actor['identity'] => ({
  username: String(username),
  namespace: space.name,
  profiles: [],
});
