// Extends mqtt.js so that a message is acknowledged when it is stored, while further messages are handled. mqtt.js itself either
// acknowledges at once or handles one message after the other.
import type { Duplex } from 'node:stream';
import { type IClientOptions, type IPublishPacket, MqttClient, type Packet } from 'mqtt';

/** Stores a message. Resolves when it may be acknowledged; rejects when it must not be. */
export type Take = (packet: IPublishPacket) => Promise<void>;

type Sent = (error?: Error) => void;

export class AckingClient extends MqttClient {
  /** Messages whose acknowledgement is pending, by packet id. */
  readonly #open = new Map<number, Promise<void>>();
  readonly #room: () => Promise<void>;
  /** Messages that wait for room: while there is one, nothing is read. */
  #heldBack = 0;
  #takes = true;
  /** Whether the broker has sent anything since the last ping. */
  #hasSent = false;

  /** @param stream a connected stream; the client neither opens connections nor reconnects */
  constructor(stream: Duplex, options: IClientOptions, take: Take, room: () => Promise<void>) {
    super(() => stream, { ...options, reconnectPeriod: 0, manualConnect: true });
    this.#room = room;
    const send = this['_sendPacket'].bind(this) as (packet: Packet, sent?: Sent, ...rest: unknown[]) => unknown;
    // A failed write may have sent a part of the packet, so that the connection is unusable: its end reports the error to all callers.
    const writing = (packet: Packet, sent?: Sent, ...rest: unknown[]): unknown => {
      try {
        return send(packet, sent, ...rest);
      } catch (error) {
        stream.destroy(error as Error);
        return this;
      }
    };
    const deferring = (packet: Packet, sent?: Sent, ...rest: unknown[]): unknown => {
      const waiting = packet.cmd === 'puback' || packet.cmd === 'pubrec' ? this.#open.get(packet.messageId as number) : undefined;
      if (!waiting) return writing(packet, sent, ...rest);
      this.#open.delete(packet.messageId as number);
      waiting.then(
        () => this.connected && writing(packet),
        () => undefined, // the message stays unacknowledged, so that the broker delivers it again after a reconnect
      );
      sent?.();
      return this;
    };
    (this as unknown as { _sendPacket: typeof deferring })['_sendPacket'] = deferring;
    this.on('packetreceive', (packet) => {
      this.#hasSent = true;
      if (packet.cmd !== 'publish') return;
      const stored = this.#takes ? take(packet) : Promise.reject(new Error('the source is closed'));
      stored.catch(() => undefined); // callers that wait for it see the error
      if (packet.qos > 0 && packet.messageId !== undefined) this.#open.set(packet.messageId, stored);
    });
    this.connect();
  }

  /** What comes from now on stays with the broker, unacknowledged: it was on its way when the source was closed. */
  takesNoMore(): void {
    this.#takes = false;
  }

  /** Reads no further packets while too many messages wait: TCP then slows the broker down. */
  override handleMessage(_packet: IPublishPacket, callback: Sent): void {
    this.#heldBack++;
    void this.#room().then(() => {
      this.#heldBack--;
      callback();
    });
  }

  /**
   * mqtt.js takes a broker for dead whose answer to a ping is late. Behind a flood of messages, or while none are read, it is late from a
   * broker that lives, too: only one that sends nothing at all while it is listened to is dead.
   */
  override onKeepaliveTimeout(): void {
    if (!this.#hasSent && this.#heldBack === 0) return super.onKeepaliveTimeout();
    this.sendPing(); // the broker must hear something, too
    this.reschedulePing(true);
  }

  override sendPing(): void {
    this.#hasSent = false;
    super.sendPing();
  }
}
