// The outbox of reliable nodes (integrations.md 11.8): a write is stored before it is sent, and retried with its request id until the node
// has answered, in order per node, by the owner of the namespace. The node remembers the id for a day, so that the write takes effect once.
import { type Db, Long, ObjectId } from 'mongodb';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../../model/errors/index.ts';
import { newId } from '../../model/types/index.ts';
import { openText, sealText } from '../../model/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { DuplicateKey, type StoredEvent, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { deadLetter, DEAD_LETTERS } from '../delivery/index.ts';
import type { Carriage, NodeAnswer, NodeRequest } from './node-client.ts';
import { failureOf, isTransient } from './failures.ts';

const OUTBOX = 'outbox';
const PURPOSE = 'outbox';
const LOOK_EVERY_MS = 1_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const ANSWER_MS = 60_000;
const AT_A_TIME = 200;

interface Waiting {
  readonly _id: ObjectId;
  readonly ars_version: Long;
  readonly node: string;
  /** Orders the entries as their commits. */
  readonly order: ObjectId;
  readonly at: Date;
  readonly by: string;
  readonly hop: number;
  /** JSON of the request, sealed where the namespace has a key. */
  readonly request: string;
}

interface Again {
  readonly writes: Write[];
  readonly events: [];
  stored(): void;
}

export type Ask = (node: string, request: NodeRequest, carriage: Carriage) => Promise<NodeAnswer>;

export class Outbox {
  readonly #space: () => Namespace;
  readonly #ask: Ask;
  readonly #closing = new AbortController();
  readonly #waits = new Map<string, { until: number; ms: number }>();
  /** The last task in the queue of each node. */
  readonly #queues = new Map<string, Promise<void>>();
  /** Stores in progress, by request id. */
  readonly #storing = new Map<string, Promise<Waiting>>();
  /** Ids of stored requests without an answer, by node, in the order of their commits. Only the owner of the namespace writes entries. */
  readonly #backlog = new Map<string, Set<string>>();
  #loading: Promise<void> | null = null;
  /** Answered requests whose entries are not removed yet. A retry after a crash has no effect on the node, which knows the ids. */
  readonly #answered = new Map<string, Waiting>();
  #removing: Promise<void> | null = null;
  /** Nodes whose backlog is scheduled to be sent. */
  readonly #senders = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(space: () => Namespace, ask: Ask) {
    this.#space = space;
    this.#ask = ask;
  }

  static async index(db: Db): Promise<void> {
    await db.collection(OUTBOX).createIndex({ node: 1, order: 1 });
  }

  open(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
    this.#look();
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#closing.abort();
    await Promise.allSettled([...this.#queues.values()]);
    await this.#removeAnswered();
  }

  /** The number of requests that wait for a node. */
  async waiting(node: string): Promise<number> {
    await this.#loaded();
    return this.#backlog.get(node)?.size ?? 0;
  }

  /** Whether no request waits for any node, nor is being stored. @throws errors of the store */
  async isEmpty(): Promise<boolean> {
    await this.#loaded();
    return this.#storing.size === 0 && [...this.#backlog.values()].every(({ size }) => size === 0);
  }

  /**
   * Stores a request, then sends it unless earlier ones wait.
   * @throws CascadeError cascade.federation.delivery.pending when it will be sent later; the error with which the node refused it
   */
  deliver(node: string, request: NodeRequest, by: string, hop: number, signal: AbortSignal): Promise<NodeAnswer> {
    const storing = this.#store(node, request, by, hop);
    const { requestId = '' } = request;
    const over = storing.then(
      () => undefined,
      () => undefined,
    );
    this.#storing.set(requestId, storing);
    void over.then(() => this.#storing.get(requestId) === storing && this.#storing.delete(requestId));
    return this.#enqueue(node, async () => {
      const entry = await storing;
      const backlog = this.#backlogOf(node);
      const id = entry._id.toHexString();
      // An entry that left the backlog was sent meanwhile: a repetition with its id gets its answer.
      if (backlog.has(id) && backlog.values().next().value !== id)
        throw apiError('cascade.federation.delivery.pending', node, 'others wait before it');
      try {
        const answer = await this.#ask(node, request, { hop, signal, deadline: performance.now() + ANSWER_MS });
        this.#settled(entry);
        return answer;
      } catch (error) {
        const failed = failureOf(node, error);
        if (signal.aborted || isTransient(failed)) throw apiError('cascade.federation.delivery.pending', node, failed.message);
        this.#settled(entry);
        throw failed;
      }
    });
  }

  /**
   * A request that has become a dead letter waits anew, behind the others, with its id: a node that has carried it out knows that.
   * @returns null where the node, or the request, is not there any more. The caller calls `stored` after the commit
   */
  again(node: string, { value, by }: Pick<StoredEvent, 'value' | 'by'>): Again | null {
    const space = this.#space();
    const given = decodeInner(value);
    if (!space.catalog.definitions.get('nodes', node) || !isObject(given) || typeof given['op'] !== 'string') return null;
    const { hop = 0, isType, ...rest } = given;
    const request = Object.fromEntries(Object.entries({ ...rest, isType: isType || null }).filter(([, one]) => one !== null));
    const entry = this.#entryOf(newId(), node, request as unknown as NodeRequest, by, Number(hop));
    return {
      writes: [{ collection: OUTBOX, op: 'insert', document: { ...entry } }],
      events: [],
      stored: () => {
        this.#loaded()
          .then(() => this.#backlogOf(node).add(entry._id.toHexString()))
          .catch(() => undefined); // whoever reads the outbox next finds it there
      },
    };
  }

  /** Resolves when a request is stored: only then may its caller be told that it will be sent. @throws the error that prevented it */
  async isStored(requestId: string): Promise<void> {
    await this.#storing.get(requestId);
  }

  /** Runs one task at a time per node, in order of arrival. */
  #enqueue<T>(node: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#queues.get(node) ?? Promise.resolve()).then(work);
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#queues.set(node, over);
    void over.then(() => this.#queues.get(node) === over && this.#queues.delete(node));
    return turn;
  }

  /** Loads the backlog that an earlier owner left. @throws errors of the store; the next call tries again */
  #loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const left = await this.#entries()
      .find({}, { projection: { node: 1 } })
      .sort({ order: 1 })
      .toArray();
    for (const { _id, node } of left) this.#backlogOf(node).add(_id.toHexString());
  }

  #backlogOf(node: string): Set<string> {
    const known = this.#backlog.get(node) ?? new Set<string>();
    this.#backlog.set(node, known);
    return known;
  }

  async #store(node: string, request: NodeRequest, by: string, hop: number): Promise<Waiting> {
    await this.#loaded();
    const space = this.#space();
    const entry = this.#entryOf((request.requestId ?? '').replaceAll('-', '').slice(0, 24), node, request, by, hop);
    const { _id } = entry;
    try {
      await space.transactions.submit({ writes: [{ collection: OUTBOX, op: 'insert', document: { ...entry } }], events: [] }, true);
      this.#backlogOf(node).add(_id.toHexString());
      return entry;
    } catch (error) {
      if (!(error instanceof DuplicateKey)) throw error;
      return (await this.#entries().findOne({ _id })) ?? entry; // a replay of the run: the request waits already, or was answered
    }
  }

  #entryOf(id: string, node: string, request: NodeRequest, by: string, hop: number): Waiting {
    const { storage, clock } = this.#space();
    return {
      _id: ObjectId.createFromHexString(id),
      ars_version: Long.fromNumber(1),
      node,
      order: ObjectId.createFromHexString(newId()),
      at: new Date(clock.now()),
      by,
      hop,
      request: sealText(storage.cipher, JSON.stringify(request), PURPOSE, id),
    };
  }

  /** Records that a request was answered: it no longer delays others, and the next batch removes it. */
  #settled(entry: Waiting): void {
    const id = entry._id.toHexString();
    if (!this.#backlogOf(entry.node).delete(id)) return;
    this.#waits.delete(entry.node);
    this.#answered.set(id, entry);
    if (this.#answered.size >= AT_A_TIME) void this.#removeAnswered();
  }

  /** Removes answered entries in batches; entries that could not be removed stay for the next round. Never rejects. */
  #removeAnswered(): Promise<void> {
    this.#removing ??= this.#removeBatches()
      .catch((err: unknown) =>
        this.#space().log.warn({ err }, 'answered requests could not be removed from the outbox; the next round retries'),
      )
      .finally(() => {
        this.#removing = null;
      });
    return this.#removing;
  }

  async #removeBatches(): Promise<void> {
    while (this.#answered.size > 0) {
      const batch = [...this.#answered].slice(0, AT_A_TIME);
      const writes = batch.map(([, { _id }]) => ({ collection: OUTBOX, op: 'delete', id: _id, version: 1n }) as const);
      try {
        await this.#space().transactions.submit({ writes, events: [] }, true);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        for (const [, entry] of batch) await this.#remove(entry); // another process has removed one of them
      }
      for (const [id] of batch) this.#answered.delete(id);
    }
  }

  async #remove(
    { _id }: Waiting,
    more: Pick<ReturnType<typeof deadLetter>, 'writes' | 'events'> = { writes: [], events: [] },
  ): Promise<void> {
    try {
      const gone = { collection: OUTBOX, op: 'delete', id: _id, version: 1n } as const;
      await this.#space().transactions.submit({ writes: [gone, ...more.writes], events: more.events }, true);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error; // another process has removed it
    }
  }

  #entries() {
    return this.#space().storage.db.collection<Waiting>(OUTBOX);
  }

  #look(): void {
    const { log } = this.#space();
    if (this.#closing.signal.aborted) return;
    void this.#removeAnswered();
    this.#loaded().then(
      () => this.#send(),
      (err: unknown) => log.warn({ err }, 'the outbox could not be read and will be retried'),
    );
  }

  #send(): void {
    const space = this.#space();
    for (const [node, backlog] of this.#backlog) {
      if (backlog.size === 0 || this.#senders.has(node) || (this.#waits.get(node)?.until ?? 0) > performance.now()) continue;
      this.#senders.add(node); // queued behind earlier tasks; later statements queue behind it in turn
      const sent = this.#enqueue(node, () => this.#sendTo(space, node)).finally(() => this.#senders.delete(node));
      sent.then(
        (isMore) => isMore && this.#look(),
        (err: unknown) => {
          this.#backOff(node);
          space.log.warn({ err, node }, 'the backlog of a node could not be sent and will be retried');
        },
      );
    }
  }

  /** Sends the backlog in order, until a request fails. @returns whether all were sent and more are waiting */
  async #sendTo(space: Namespace, node: string): Promise<boolean> {
    const backlog = this.#backlogOf(node);
    const entries = await this.#entries()
      .find({ node })
      .sort({ order: 1 })
      .limit(2 * AT_A_TIME)
      .toArray();
    for (const entry of entries) {
      if (this.#closing.signal.aborted) return false;
      if (!backlog.has(entry._id.toHexString())) continue; // it was answered meanwhile
      const registered = space.catalog.definitions.get('nodes', node);
      if (!registered) {
        await this.#moveToDeadLetters(entry, apiError('cascade.federation.unreachable', node, 'the node was deleted'));
        continue;
      }
      if (space.clock.now() > entry.at.getTime() + Number(getOwn(registered, 'deliveryTTL')) * 1_000) {
        await this.#moveToDeadLetters(entry, apiError('cascade.federation.unreachable', node, 'its time is over'));
        continue;
      }
      const request = this.#requestOf(entry);
      if (!Object.hasOwn(request, 'op')) {
        await this.#moveToDeadLetters(entry, apiError('cascade.federation.protocol', node, 'it was stored by an earlier version'));
        continue;
      }
      try {
        const carriage = { hop: entry.hop, signal: this.#closing.signal, deadline: performance.now() + ANSWER_MS };
        await this.#ask(node, request, carriage);
        this.#settled(entry);
      } catch (error) {
        const failed = failureOf(node, error);
        if (isTransient(failed) || failed.code === 'io.service.security.authentication.failed') {
          this.#backOff(node);
          return false;
        }
        await this.#moveToDeadLetters(entry, failed);
      }
    }
    return backlog.size > 0;
  }

  #backOff(node: string): void {
    const ms = Math.min(LONGEST_WAIT_MS, (this.#waits.get(node)?.ms ?? FIRST_WAIT_MS / 2) * 2);
    this.#waits.set(node, { ms, until: performance.now() + ms });
  }

  #requestOf(entry: Waiting): NodeRequest {
    return JSON.parse(openText(this.#space().storage.cipher, entry.request, PURPOSE, entry._id.toHexString())) as NodeRequest;
  }

  /** Makes the request a dead letter in the commit that removes it from the outbox. */
  async #moveToDeadLetters(entry: Waiting, error: CascadeError): Promise<void> {
    const space = this.#space();
    const { op, resource, isType = false, id = null, parameters = {}, object = null, requestId = '' } = this.#requestOf(entry);
    const leave = (): boolean => this.#backlogOf(entry.node).delete(entry._id.toHexString());
    // A replay after a crash has stored the request again: one dead letter suffices.
    if (await space.storage.db.collection(DEAD_LETTERS.collection).findOne({ 'event.uuid': requestId })) {
      await this.#remove(entry);
      leave();
      return;
    }
    const value: ObjectValue = { op, resource, isType, id, parameters: { ...parameters }, object, requestId, hop: entry.hop };
    const uuid = requestId;
    const event = { uuid, path: `/nodes/${entry.node}`, value: encodeInner(value), at: entry.at, by: entry.by, runs: [] };
    const dead = deadLetter(space, {
      event: { ...event, chain: { root: uuid, depth: 0 } },
      target: `/nodes/${entry.node}`,
      reason: 'outbox',
      error,
      deliveries: 1,
    });
    await this.#remove(entry, dead);
    leave();
  }
}

/** Whether writes to the node go through the outbox. */
export const isReliable = (node: Value | undefined): boolean =>
  isObject(node ?? null) && getOwn(node as ObjectValue, 'deliveryMode') === 'reliable';
