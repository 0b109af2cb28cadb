// A client's statement over more instances than one batch takes: a run of its own, stored as an event before it begins. So it completes and
// raises its event whatever becomes of this process, or of the client.

import { randomUUID } from 'node:crypto';
import { type Actor, ChildRunIds, type StepStore } from '../context/index.ts';
import type { Identity } from '../../identity/index.ts';
import { type Answer, Fenced, type RunId, runIdOf, type Step, type StoredEvent, type UnitOfWork } from '../transactions/index.ts';
import { decodeInner, encodeInner, getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { retryUntilAvailable } from '../../platform/mongo/index.ts';
import { fromWireError, toWireError } from './wire-error.ts';
import { checkpointSite, Checkpoints } from './checkpoints.ts';
import type { RunHost } from './types.ts';

/** In place of a program: the run is one statement, and its rule is the statement's kind. */
export const STATEMENT = 'statement';

/** The site of its checkpoints. */
const SITE = 'all';

interface Client {
  readonly resolve: (answer: Answer) => void;
  readonly headers: Actor['headers'];
  readonly within: Actor['within'];
}

/** Clients that wait for a statement's answer, by the uuid of its event; after a crash there is none. */
const clients = new Map<string, Client>();

/**
 * Carries out a statement of an actor without a history.
 * @param kind @param payload as in a program's request
 * @returns its answer as inner JSON
 * @throws errors of the actor's `commit`, and of the statement
 */
export async function runDurably(kind: string, payload: ObjectValue, actor: Actor): Promise<string> {
  const { identity, depth, headers, within, chain } = actor;
  const uuid = randomUUID();
  const event: StoredEvent = {
    uuid,
    path: `/statements/${kind}`,
    value: encodeInner({ payload, identity: JSON.stringify(identity), depth }),
    at: new Date(actor.clock.now()),
    by: identity.username,
    chain: { ...chain, root: chain.root ?? uuid },
    runs: [{ rule: kind, program: STATEMENT, binds: 'value' }],
  };
  const answered = new Promise<Answer>((resolve) => clients.set(uuid, { resolve, headers, within }));
  try {
    await actor.commit({ writes: [], events: [event] });
    const answer = await answered;
    if ('error' in answer) throw fromWireError(answer.error);
    return 'ok' in answer ? answer.ok : answer.list;
  } finally {
    clients.delete(uuid);
  }
}

/** The service is stopping: the next start continues. */
class ShuttingDown extends Error {}

export class StatementRun implements StepStore {
  readonly #host: RunHost;
  readonly #event: StoredEvent;
  readonly #kind: string;
  readonly #ended: () => void;
  readonly #id: RunId;
  readonly #payloadJson: string;
  readonly #identity: Identity;
  readonly #depth: number;
  readonly #parts = new Checkpoints();
  readonly #startedAt: Date;
  /** Recorded steps of BEFORE rules, by run, for instances that a retry may come to again. */
  readonly #children = new Map<RunId, readonly Step[]>();
  #isStored = false;

  constructor(host: RunHost, event: StoredEvent, kind: string, ended: () => void) {
    this.#host = host;
    this.#event = event;
    this.#kind = kind;
    this.#ended = ended;
    this.#id = runIdOf(event, kind);
    const given = decodeInner(event.value) as ObjectValue;
    this.#payloadJson = encodeInner(getOwn(given, 'payload'));
    this.#identity = JSON.parse(String(getOwn(given, 'identity'))) as Identity;
    this.#depth = Number(getOwn(given, 'depth'));
    const steps = host.takeRecorded(this.#id);
    for (const step of steps) this.#parts.add(step);
    this.#startedAt = steps[0]?.startedAt ?? this.#now();
  }

  async start(): Promise<void> {
    try {
      const answer = await this.#answer();
      if (!this.#isStored) this.#host.committer.markDone(this.#id);
      this.#reply(answer);
    } catch (error) {
      if (!(error instanceof Fenced || error instanceof ShuttingDown)) throw error; // another process, or the next start, continues it
      this.#reply({ error: toWireError(apiError('cascade.server.unavailable')) });
    } finally {
      this.#ended();
    }
  }

  // ------------------------------------------------------------ StepStore
  taken(run: RunId): readonly Step[] {
    const known = this.#children.get(run) ?? this.#host.takeRecorded(run);
    if (known.length > 0) this.#children.set(run, known);
    return known;
  }

  stored(step: Step): void {
    this.#children.set(step.run, [...(this.#children.get(step.run) ?? []), step]);
  }

  // ------------------------------------------------------------ inside
  /** @throws Fenced, ShuttingDown */
  async #answer(): Promise<Answer> {
    try {
      return await retryUntilAvailable(() => this.#host.perform(this.#kind, this.#payloadJson, this.#actor()), {
        isWanted: () => !this.#isStored && !this.#host.backpressure.isClosed,
      });
    } catch (error) {
      if (error instanceof Fenced) throw error;
      if (this.#host.backpressure.isClosed && !this.#isStored) throw new ShuttingDown(); // the store may be closed already
      return { error: this.#asWire(error) };
    }
  }

  #asWire(error: unknown): ReturnType<typeof toWireError> {
    if (!isApiError(error)) this.#host.log.error({ err: error, statement: this.#id }, 'a statement failed unexpectedly');
    return toWireError(error);
  }

  #reply(answer: Answer): void {
    const client = clients.get(this.#event.uuid);
    if (client) client.resolve(answer);
    else if ('error' in answer)
      this.#host.log.warn({ statement: this.#id, ...answer.error }, 'a statement that a crash had cut off ended with an error');
  }

  /** Drops the recorded steps of instances before a checkpoint. */
  #forgetBefore(last: string): void {
    const start = `${this.#id}/${SITE}/`.length;
    for (const run of this.#children.keys()) if (run.slice(start, start + last.length) <= last) this.#children.delete(run);
  }

  #now(): Date {
    return new Date(this.#host.clock.now());
  }

  #actor(): Actor {
    const client = clients.get(this.#event.uuid);
    return {
      identity: this.#identity,
      clock: this.#host.clock,
      chain: this.#event.chain,
      event: { event: this.#event, rule: this.#kind },
      readSet: null,
      childRunIds: new ChildRunIds(`${this.#id}/${SITE}`, this),
      depth: this.#depth,
      headers: client?.headers,
      within: client?.within,
      checkpoints: this.#parts.of(SITE, 0),
      commit: async (unit, answer, part) => {
        if (answer) {
          await this.#host.committer.submit({ ...unit, done: [this.#id] }, true);
          client?.within?.stored(unit.writes);
          this.#isStored = true;
          return;
        }
        if (!part) throw new TypeError('a statement stores parts and an end');
        if (this.#host.backpressure.isClosed) throw new ShuttingDown();
        const site = checkpointSite(SITE, part.number);
        const answered = { ok: part.note };
        const step: Step = { run: this.#id, site, nth: 0, at: this.#now(), startedAt: this.#startedAt, answer: answered, reads: [] };
        const commit = (): Promise<void> => this.#host.committer.submit({ ...unit, steps: [step] }, true);
        await (startsRuns(unit) ? this.#host.backpressure.pass(commit) : commit());
        client?.within?.stored(unit.writes);
        this.#parts.add(step);
        this.#forgetBefore(lastOf(part.note));
      },
    };
  }
}

/** The `_id` of the last instance of a part, from its note. */
const lastOf = (note: string): string => String(getOwn(decodeInner(note) as ObjectValue, 'after'));

const startsRuns = (unit: UnitOfWork): boolean => unit.events.some((event) => event.runs.length > 0);
