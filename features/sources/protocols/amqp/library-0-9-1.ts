// The internal parts of amqplib that are used: it opens its own sockets, while these parts accept a connected one. The version is pinned, since
// they are internal.
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { ChannelModel as Model } from 'amqplib';

const inside = createRequire(createRequire(import.meta.url).resolve('amqplib'));

interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}
const frames = inside('./lib/frame') as { decodeFrame(frame: Frame): unknown };

const CONTENT_HEADER = 2;
const SIZE_OFFSET = 4;

/** Among a message's properties: why the others cannot be read. */
export const UNREADABLE = Symbol('unreadable');

/**
 * Keeps properties that cannot be read (tables nested deeper than the stack) from ending the connection, which the broker would deliver the
 * same message to again and again.
 */
function readSafely(): void {
  const { decodeFrame } = frames;
  frames.decodeFrame = (frame) => {
    try {
      return decodeFrame(frame);
    } catch (error) {
      if (frame.type !== CONTENT_HEADER) throw error;
      const { payload, channel } = frame;
      const fields = { [UNREADABLE]: error instanceof Error ? error.message : String(error) };
      return { id: payload.readUInt16BE(0), channel, size: Number(payload.readBigUInt64BE(SIZE_OFFSET)), fields };
    }
  };
}

readSafely(); // before the connection is loaded, which takes the function as it is then
export const { Connection: Wire } = inside('./lib/connection') as {
  Connection: new (stream: Duplex) => { open(fields: object, opened: (error: Error | null) => void): void };
};
export const { ChannelModel } = inside('./lib/channel_model') as { ChannelModel: new (wire: object) => Model };
export const credentials = inside('./lib/credentials') as {
  plain(user: string, password: string): { mechanism: string; response: () => Buffer };
  external(): { mechanism: string; response: () => Buffer };
};
