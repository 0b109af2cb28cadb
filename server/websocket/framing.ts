// Two framings of messages: raw, or in SockJS's envelopes (resources-and-api.md 2.15, 2.16).
import { parseJson } from '../../model/values/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import { readBody } from '../http/index.ts';

type Framed = readonly (Uint8Array | string)[] | null;

export interface Framing {
  /** Makes the frame of one message. */
  frame(text: string): string;
  /** Makes a fragment of a message; the first and the last one have the beginning and the end of the message's frame. */
  fragment(text: string, isFirst: boolean, isLast: boolean): string;
  /** Whether frames are binary: raw clients expect blobs. */
  readonly binary: boolean;
  /** The messages in a frame of the client; null: the frame is malformed. */
  unframe(frame: Uint8Array, isBinary: boolean): Framed;
  /** The same of a long frame, which is read in pieces. @param owner see `readBody` */
  unframeLong(frame: Uint8Array, isBinary: boolean, owner: string): Promise<Framed>;
  /** How long the messages in a frame are at least, together. */
  leastBytes(frameBytes: number): number;
  /** Frames at the beginning, as heartbeats, and before the close. */
  readonly opening: string | null;
  readonly heartbeat: string | null;
  closing(code: number, reason: string): string | null;
}

export const RAW: Framing = {
  frame: (text) => text,
  fragment: (text) => text,
  binary: true,
  unframe: (frame) => [frame],
  unframeLong: async (frame) => [frame],
  leastBytes: (frameBytes) => frameBytes,
  opening: null,
  heartbeat: null,
  closing: () => null,
};

/** Bound of the messages in one frame, with the frame itself. */
const MOST_TEXTS = 1_001;
/** What a byte of a message takes in a frame at most, as `\u0001`. */
const LONGEST_ESCAPE = 6;

function textsIn(value: Value): Framed {
  const texts = Array.isArray(value) ? value : [value];
  return texts.every((text) => typeof text === 'string') ? texts : null;
}

export const SOCKJS: Framing = {
  frame: (text) => `a[${JSON.stringify(text)}]`,
  fragment: (text, isFirst, isLast) => `${isFirst ? 'a["' : ''}${JSON.stringify(text).slice(1, -1)}${isLast ? '"]' : ''}`,
  binary: false,
  unframe(frame, isBinary) {
    if (frame.length === 0 || isBinary) return []; // empty frames and foreign keep-alives carry no message
    try {
      return textsIn(parseJson(frame, { maxValues: MOST_TEXTS }));
    } catch {
      return null; // the reason is not reported: the session ends
    }
  },
  async unframeLong(frame, isBinary, owner) {
    if (isBinary) return [];
    try {
      return textsIn(await readBody(frame, owner, { maxValues: MOST_TEXTS }));
    } catch {
      return null;
    }
  },
  leastBytes: (frameBytes) => Math.floor(frameBytes / LONGEST_ESCAPE),
  opening: 'o',
  heartbeat: 'h',
  closing: (code, reason) => `c[${code},${JSON.stringify(reason)}]`,
};
