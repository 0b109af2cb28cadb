// mqtt.js, but the broker gets its acknowledgement of a message when the message is stored, and messages that come meanwhile need not wait for that.
// mqtt.js by itself either acknowledges at once or handles one message after the other.
import type { Duplex } from 'node:stream';
import { type IClientOptions, type IPublishPacket, MqttClient, type Packet } from 'mqtt';

/** Stores a message; settles when it may be acknowledged. Rejects: it must not be. */
export type Take = (packet: IPublishPacket) => Promise<void>;

type Sent = (error?: Error) => void;

export class AckingClient extends MqttClient {
  /** By packet id: messages whose acknowledgement waits. */
  readonly #open = new Map<number, Promise<void>>();
  readonly #room: () => Promise<void>;

  /** @param stream connected already; the client neither makes connections nor makes them again */
  constructor(stream: Duplex, options: IClientOptions, take: Take, room: () => Promise<void>) {
    super(() => stream, { ...options, reconnectPeriod: 0, manualConnect: true });
    this.#room = room;
    const send = this['_sendPacket'].bind(this) as (packet: Packet, sent?: Sent, ...rest: unknown[]) => unknown;
    // What cannot be written is thrown with a part of it written: the connection is of no use any more, and all who wait hear of it by its end.
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
        () => undefined, // not acknowledged: the broker sends it again when the client comes back
      );
      sent?.();
      return this;
    };
    (this as unknown as { _sendPacket: typeof deferring })['_sendPacket'] = deferring;
    this.on('packetreceive', (packet) => {
      if (packet.cmd !== 'publish') return;
      const stored = take(packet);
      stored.catch(() => undefined); // seen by who waits for it, if anybody does
      if (packet.qos > 0 && packet.messageId !== undefined) this.#open.set(packet.messageId, stored);
    });
    this.connect();
  }

  /** Takes no further packets while too many messages wait: the broker is held back by TCP. */
  override handleMessage(_packet: IPublishPacket, callback: Sent): void {
    void this.#room().then(() => callback());
  }
}
