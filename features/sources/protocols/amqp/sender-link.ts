// The link of AMQP 1.0 to one target address. It has a session of its own: some brokers end the session for an unknown address.
import type rhea from 'rhea';
import type { Delivery, EventContext, Sender } from 'rhea';
import { apiError } from '../../../../model/errors/index.ts';
import { confirmed, CONFIRMED_WITHIN_MS, Unconfirmed } from '../confirmation.ts';
import type { Publication } from './common.ts';
import type { Link } from './links.ts';
import { messageOf, textOf } from './values-1-0.ts';

/** A link without credit for so long fails what waits for it: the broker takes nothing, and nothing has been sent. */
const CREDIT_WITHIN_MS = 15_000;

interface Bounds {
  readonly creditMs: number;
  /** From sending to the outcome. */
  readonly outcomeMs: number;
}

const BOUNDS: Bounds = { creditMs: CREDIT_WITHIN_MS, outcomeMs: CONFIRMED_WITHIN_MS };

export class SenderLink implements Link {
  readonly #connection: rhea.Connection;
  readonly #session: rhea.Session;
  readonly #sender: Sender;
  readonly #source: string;
  readonly #address: string;
  readonly #gone: () => void;
  readonly #open = new Map<Delivery, { resolve(): void; reject(error: Error): void }>();
  readonly #credit: ((isThere: boolean) => void)[] = [];
  readonly #bounds: Bounds;
  /** Runs while something waits for credit, from the last that came. */
  #waiting: NodeJS.Timeout | null = null;
  readonly #onDisconnected = (): void => this.#ended('the broker closed the connection');
  #reason: string | null = null;

  /** @param gone called when the link has ended, or did not open. @throws cascade.source.publish.failed */
  static async open(connection: rhea.Connection, source: string, address: string, gone: () => void, bounds = BOUNDS): Promise<SenderLink> {
    const link = new SenderLink(connection, source, address, gone, bounds);
    try {
      await link.#sendable();
    } catch (error) {
      link.close(); // nobody else has it
      throw error;
    }
    return link;
  }

  private constructor(connection: rhea.Connection, source: string, address: string, gone: () => void, bounds: Bounds) {
    this.#bounds = bounds;
    this.#connection = connection;
    this.#source = source;
    this.#address = address;
    this.#gone = gone;
    this.#session = connection.create_session();
    this.#session.begin();
    this.#sender = this.#session.open_sender({ target: { address }, autosettle: true });
    const session = this.#session;
    const sender = this.#sender;
    // The end comes after its error: heard here as well, it is not one of the connection.
    sender.on('sender_error', ({ sender: failed }: EventContext) => this.#ended(textOf(failed?.error) ?? 'the broker refused the link'));
    sender.on('sender_close', () => this.#ended('the broker closed the link'));
    session.on('session_error', ({ session: failed }: EventContext) =>
      this.#ended(textOf(failed?.error) ?? 'the broker ended the session'),
    );
    session.on('session_close', () => this.#ended('the broker ended the session'));
    connection.on('disconnected', this.#onDisconnected);
    sender.on('accepted', (event: EventContext) => this.#settled(event, true));
    for (const outcome of ['rejected', 'released', 'modified']) sender.on(outcome, (event: EventContext) => this.#settled(event, false));
    sender.on('sendable', () => this.#wake(true));
  }

  async send(publication: Publication): Promise<void> {
    await this.#sendable();
    const delivery = this.#sender.send(messageOf(publication));
    const outcome = new Promise<void>((resolve, reject) => this.#open.set(delivery, { resolve, reject }));
    try {
      await confirmed(outcome, this.#bounds.outcomeMs);
    } catch (error) {
      this.#open.delete(delivery);
      throw error instanceof Unconfirmed ? this.#failure(error.message) : error;
    }
  }

  close(): void {
    this.#ended('the link is closed');
  }

  async #sendable(): Promise<void> {
    while (this.#reason === null && !this.#sender.sendable()) {
      const isThere = await new Promise<boolean>((resolve) => {
        this.#credit.push(resolve);
        this.#waiting ??= setTimeout(() => this.#wake(false), this.#bounds.creditMs);
      });
      if (!isThere && this.#reason === null) throw this.#failure('the broker takes no messages now');
    }
    if (this.#reason !== null) throw this.#failure(this.#reason);
  }

  #wake(isThere: boolean): void {
    if (this.#waiting) clearTimeout(this.#waiting);
    this.#waiting = null;
    for (const wake of this.#credit.splice(0)) wake(isThere);
  }

  #settled({ delivery }: EventContext, isTaken: boolean): void {
    const waiting = delivery && this.#open.get(delivery);
    if (!waiting || !delivery) return;
    this.#open.delete(delivery);
    if (isTaken) waiting.resolve();
    else waiting.reject(apiError('cascade.amqp.publish.rejected', this.#source, this.#address));
  }

  /** Brokers bound the sessions of a connection: one whose link has ended is ended, too. */
  #ended(reason: string): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#connection.removeListener('disconnected', this.#onDisconnected);
    this.#gone();
    for (const { reject } of this.#open.values()) reject(this.#failure(reason));
    this.#open.clear();
    this.#wake(false);
    if (this.#session.is_open()) this.#session.close();
  }

  #failure(reason: string): Error {
    return apiError('cascade.source.publish.failed', this.#source, `${this.#address}: ${reason}`, null, null);
  }
}
