// Sends events to the open sockets of persistent subscriptions: first the stored backlog, in order and no faster than the client reads,
// then events as they are committed.

import type { Filter } from 'mongodb';
import { type StoredEvent, VersionConflict } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { Backoff } from '../../platform/mongo/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { type Made, type Present, type Shown, valueOf } from '../../runtime/events/index.ts';
import { fromStored, DELIVERIES, type Delivery, intervalMs, replacing, untilDeadline } from './stored-delivery.ts';
import type { Persistent, Socket } from './persistent.ts';

/** Deliveries updated per batch. */
const BATCH = 500;
/** Characters of stored events that are sent before the client must have read most of them. */
const MOST_AHEAD = 1_000_000;

interface SendingOptions {
  readonly space: () => Namespace;
  readonly present: Present;
}

export class Sending {
  readonly #options: SendingOptions;
  readonly #onBegun: () => Promise<void>;
  #closed = false;

  /** @param onBegun called when a socket has got its backlog */
  constructor(options: SendingOptions, onBegun: () => Promise<void>) {
    this.#options = options;
    this.#onBegun = onBegun;
  }

  close(): void {
    this.#closed = true;
  }

  /** Handles a committed event that the subscription matches. */
  committed(subscription: Persistent, socket: Socket, event: StoredEvent): void {
    const isUnsent = socket.unsent.delete(event.uuid);
    if (!event.sequence || (socket.hasBegun && !isUnsent)) return this.send(socket, event, false);
    socket.hasMissed = true;
    if (!socket.hasBegun) return; // it follows the backlog
    socket.hasBegun = false;
    void this.catchUp(subscription, socket, { attempts: 0 });
  }

  /**
   * Sends a socket the backlog, then the events committed meanwhile, until none is left. Never rejects: errors are retried with back-off
   * while the socket is attached.
   */
  async catchUp(subscription: Persistent, socket: Socket, first: Filter<Delivery>): Promise<void> {
    let which = first;
    const backoff = new Backoff();
    while (subscription.socket === socket && !this.#closed)
      try {
        socket.hasMissed = false;
        await this.#sendStored(subscription, socket, which);
        backoff.reset();
        which = { attempts: 0 };
        if (socket.hasMissed) continue;
        socket.hasBegun = true;
        return await this.#onBegun();
      } catch (error) {
        this.#options
          .space()
          .log.error(
            { err: error, subscription: subscription.name },
            'the backlog of a subscription could not be sent and will be retried',
          );
        await backoff.pause();
      }
  }

  /** Sends the unacknowledged events of a subscription in order, no faster than the client reads. */
  async #sendStored(subscription: Persistent, socket: Socket, which: Filter<Delivery>): Promise<void> {
    const space = this.#options.space();
    const stored = space.storage.db
      .collection<Delivery>(DELIVERIES)
      .find({ target: subscription.name, ...which }, { promoteLongs: false })
      .sort({ 'event.sequence.partitionId': 1, 'event.sequence.sequenceId': 1 });
    let sent: Promise<void>[] = [];
    let characters = 0;
    for await (const raw of stored) {
      if (subscription.socket !== socket) break; // another socket has taken over
      const delivery = fromStored(raw, space.storage.cipher);
      if (space.clock.now() >= delivery.deadline.getTime()) continue; // the client has read too slowly for it: it is given up
      this.send(socket, { ...delivery.event, runs: [] }, delivery.attempts > 0);
      sent.push(this.#count(delivery));
      characters += delivery.event.value.length;
      if (sent.length < BATCH && characters < MOST_AHEAD) continue;
      await Promise.all([...sent, socket.asking]);
      await socket.hasRoom();
      sent = [];
      characters = 0;
    }
    await Promise.all(sent);
  }

  /** Notes that a stored event was sent, and when it is to be sent again. */
  async #count(sent: Delivery): Promise<void> {
    const { transactions, clock, storage } = this.#options.space();
    for (let delivery: Delivery | null = sent; delivery; ) {
      const attempts = delivery.attempts + 1;
      const nextAt = untilDeadline(delivery, clock.now() + intervalMs(delivery.frequencyMs, attempts));
      try {
        return await transactions.submit(replacing(delivery, { attempts, nextAt }, storage.cipher), true);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
      // The client may have acknowledged it meanwhile. Or it was due before the socket came, and put off until its deadline as there was none.
      const stored = await storage.db.collection<Delivery>(DELIVERIES).findOne({ _id: sent._id }, { promoteLongs: false });
      delivery = stored && fromStored(stored, storage.cipher);
    }
  }

  /** Sends an event, unless the user may not see it now. @param redelivered whether it was sent before */
  send(socket: Socket, event: StoredEvent, redelivered: boolean): void {
    const { present } = this.#options;
    const { sight, asking } = socket;
    const deliver = (shown: Shown): void => {
      const sequence = event.sequence && { ...event.sequence, redelivered };
      socket.deliver({ kind: 'event', ...shown, createdAt: event.at.getTime(), ...(sequence && { reliable: sequence }) });
    };
    const sendNow = ({ value, shown }: Pick<Made, 'value' | 'shown'>): MaybePromise<void> => {
      const answer = sight?.maySee(value, event.by) ?? true;
      if (answer instanceof Promise) return answer.then((isAllowed) => (isAllowed ? deliver(shown) : undefined));
      if (answer) deliver(shown);
    };
    const long = present.long(event, () => false);
    const made = (): Pick<Made, 'value' | 'shown'> => {
      const value = valueOf(event);
      return { value, shown: present(event.path, value) };
    };
    const sending = long
      ? Promise.all([long, asking]).then(([ready]) => sendNow(ready))
      : asking
        ? asking.then(() => sendNow(made()))
        : sendNow(made());
    if (!sending) return;
    const asked: Promise<void> = sending
      .catch((error: unknown) => this.#options.space().log.error({ err: error, event: event.uuid }, 'an event could not be sent'))
      .finally(() => {
        if (socket.asking === asked) socket.asking = null;
      });
    socket.asking = asked;
  }
}
