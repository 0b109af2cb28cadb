// The outbox of reliable nodes (integrations.md 11.8): a write is stored before it is sent, and sent again with its request id until the node has
// answered it, in order per node, by the process that leads the namespace. The node remembers the id for a day, so that it takes effect once.
import { type Db, Long, ObjectId } from 'mongodb';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, fault } from '../../model/errors/faults.ts';
import { newId } from '../../model/types/index.ts';
import { openText, sealText } from '../../model/values/index.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { DuplicateKey, VersionMiss } from '../../runtime/transactions/index.ts';
import { deadLetter } from '../delivery/dead-letters.ts';
import type { NodeAnswer, NodeRequest } from './client.ts';
import { failureOf, mayPass } from './failures.ts';

const OUTBOX = 'outbox';
const PLACE = 'outbox';
const LOOK_EVERY_MS = 1_000;
/** What other processes have stored is looked for this seldom. */
const LOOKS_BETWEEN = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const ANSWER_MS = 60_000;
const AT_A_TIME = 200;

interface Waiting {
  readonly _id: ObjectId;
  readonly ars_version: Long;
  readonly node: string;
  /** The order of the commits. */
  readonly order: ObjectId;
  readonly at: Date;
  readonly by: string;
  readonly hop: number;
  /** JSON of the request, sealed where the namespace has a key. */
  readonly request: string;
}

export type Ask = (
  node: string,
  request: NodeRequest,
  carriage: { hop: number; signal: AbortSignal; deadline: number },
) => Promise<NodeAnswer>;

export class Outbox {
  readonly #space: () => Namespace;
  readonly #ask: Ask;
  readonly #closing = new AbortController();
  readonly #waits = new Map<string, { until: number; ms: number }>();
  /** The last thing that is done for a node, or waits its turn. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Nodes whose entries are sent when their turn comes. */
  readonly #senders = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #looks = 0;
  #mayWait = true;

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
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#closing.abort();
    await Promise.allSettled([...this.#turns.values()]);
  }

  /** How many requests wait for a node. */
  waiting(node: string): Promise<number> {
    return this.#entries().countDocuments({ node });
  }

  /**
   * Stores a request, then sends it, unless others wait before it.
   * @throws CascadeError cascade.federation.delivery.pending when it is sent later; what the node refuses it with
   */
  deliver(node: string, request: NodeRequest, by: string, hop: number, signal: AbortSignal): Promise<NodeAnswer> {
    return this.#inTurn(node, async () => {
      const entry = await this.#store(node, request, by, hop);
      const before = await this.#entries().findOne({ node, order: { $lt: entry.order } }, { projection: { _id: 1 } });
      if (before) throw fault('cascade.federation.delivery.pending', node, 'others wait before it');
      try {
        const answer = await this.#ask(node, request, { hop, signal, deadline: Date.now() + ANSWER_MS });
        await this.#remove(entry);
        return answer;
      } catch (error) {
        const failed = failureOf(node, error);
        if (signal.aborted || mayPass(failed)) throw fault('cascade.federation.delivery.pending', node, failed.message);
        await this.#remove(entry);
        throw failed;
      }
    });
  }

  /** One thing at a time for a node, in the order in which they came. */
  #inTurn<T>(node: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(node) ?? Promise.resolve()).then(work);
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(node, over);
    void over.then(() => this.#turns.get(node) === over && this.#turns.delete(node));
    return turn;
  }

  async #store(node: string, request: NodeRequest, by: string, hop: number): Promise<Waiting> {
    const space = this.#space();
    const _id = ObjectId.createFromHexString((request.requestId ?? '').replaceAll('-', '').slice(0, 24));
    const entry: Waiting = {
      _id,
      ars_version: Long.fromNumber(1),
      node,
      order: ObjectId.createFromHexString(newId()),
      at: new Date(space.clock.now()),
      by,
      hop,
      request: sealText(space.cipher, JSON.stringify(request), PLACE),
    };
    this.#mayWait = true;
    try {
      await space.committer.submit({ writes: [{ collection: OUTBOX, op: 'insert', document: { ...entry } }], events: [] }, true);
      return entry;
    } catch (error) {
      if (!(error instanceof DuplicateKey)) throw error;
      return (await this.#entries().findOne({ _id })) ?? entry; // a repetition of the run: it waits already
    }
  }

  async #remove(
    { _id }: Waiting,
    more: Pick<ReturnType<typeof deadLetter>, 'writes' | 'events'> = { writes: [], events: [] },
  ): Promise<void> {
    try {
      const gone = { collection: OUTBOX, op: 'delete', id: _id, version: 1n } as const;
      await this.#space().committer.submit({ writes: [gone, ...more.writes], events: more.events }, true);
    } catch (error) {
      if (!(error instanceof VersionMiss)) throw error; // somebody else has removed it
    }
  }

  #entries() {
    return this.#space().db.collection<Waiting>(OUTBOX);
  }

  #look(): void {
    const space = this.#space();
    if (!this.#mayWait && ++this.#looks % LOOKS_BETWEEN !== 0) return;
    this.#mayWait = false;
    this.#send(space).catch((err: unknown) => {
      this.#mayWait = true;
      space.log.warn({ err, namespace: space.name }, 'what waits for nodes could not be looked at: it is tried again');
    });
  }

  async #send(space: Namespace): Promise<void> {
    for (const node of await this.#entries().distinct('node')) {
      this.#mayWait = true;
      if (this.#senders.has(node) || (this.#waits.get(node)?.until ?? 0) > Date.now()) continue;
      this.#senders.add(node); // behind those who wait already: new statements must not keep it from its turn
      const sent = this.#inTurn(node, () => this.#sendTo(space, node)).finally(() => this.#senders.delete(node));
      sent.catch((err: unknown) => space.log.warn({ err, node }, 'what waits for a node could not be sent: it is tried again'));
    }
  }

  /** In order, until the node fails. */
  async #sendTo(space: Namespace, node: string): Promise<void> {
    const entries = await this.#entries().find({ node }).sort({ order: 1 }).limit(AT_A_TIME).toArray();
    for (const entry of entries) {
      if (this.#closing.signal.aborted) return;
      const registered = space.definitions.get('nodes', node);
      if (!registered) {
        await this.#bury(entry, fault('cascade.federation.unreachable', node, 'the node was deleted'));
        continue;
      }
      if (space.clock.now() > entry.at.getTime() + Number(getOwn(registered, 'deliveryTTL')) * 1_000) {
        await this.#bury(entry, fault('cascade.federation.unreachable', node, 'its time is over'));
        continue;
      }
      try {
        const carriage = { hop: entry.hop, signal: this.#closing.signal, deadline: Date.now() + ANSWER_MS };
        await this.#ask(node, this.#requestOf(entry), carriage);
        this.#waits.delete(node);
        await this.#remove(entry);
      } catch (error) {
        const failed = failureOf(node, error);
        if (mayPass(failed) || failed.code === 'io.service.security.authentication.failed') return this.#stepBack(node);
        await this.#bury(entry, failed);
      }
    }
  }

  #stepBack(node: string): void {
    const ms = Math.min(LONGEST_WAIT_MS, (this.#waits.get(node)?.ms ?? FIRST_WAIT_MS / 2) * 2);
    this.#waits.set(node, { ms, until: Date.now() + ms });
  }

  #requestOf(entry: Waiting): NodeRequest {
    return JSON.parse(openText(this.#space().cipher, entry.request, PLACE)) as NodeRequest;
  }

  /** It becomes a dead letter, in the same commit in which it leaves the outbox. */
  async #bury(entry: Waiting, error: CascadeError): Promise<void> {
    const space = this.#space();
    const { method, path, query = {}, body, requestId = '' } = this.#requestOf(entry);
    const value: ObjectValue = { method, path, query: query, body: body ?? null, requestId };
    const uuid = requestId;
    const event = { uuid, path: `/nodes/${entry.node}`, value: JSON.stringify(value), at: entry.at, by: entry.by, runs: [] };
    const dead = deadLetter(space, {
      event: { ...event, chain: { root: uuid, depth: 0 } },
      target: `/nodes/${entry.node}`,
      reason: 'outbox',
      error,
      deliveries: 1,
    });
    await this.#remove(entry, dead);
  }
}

/** Whether the node's statements that change something go through the outbox. */
export const isReliable = (node: Value | undefined): boolean =>
  isObject(node ?? null) && getOwn(node as ObjectValue, 'deliveryMode') === 'reliable';
