// How messages stand in frames: as they are (raw), or in SockJS's envelopes (resources-and-api.md 2.15, 2.16). Pure.
import { parseJson } from '../../model/values/index.ts';

export interface Framing {
  /** The frame of one message. */
  frame(text: string): string;
  /** A part of a message that is sent as several fragments; the first and the last one are begun and ended as the message is. */
  fragment(text: string, isFirst: boolean, isLast: boolean): string;
  /** Whether frames are binary: raw clients want blobs. */
  readonly binary: boolean;
  /** The messages in a frame of the client; null: it is none of this framing. */
  unframe(frame: Uint8Array, isBinary: boolean): readonly (Uint8Array | string)[] | null;
  /** Frames at the beginning, as a sign of life, and before the close. */
  readonly opening: string | null;
  readonly heartbeat: string | null;
  closing(code: number, reason: string): string | null;
}

export const RAW: Framing = {
  frame: (text) => text,
  fragment: (text) => text,
  binary: true,
  unframe: (frame) => [frame],
  opening: null,
  heartbeat: null,
  closing: () => null,
};

/** Messages in one frame, and the frame itself. */
const MOST_TEXTS = 1_001;

export const SOCKJS: Framing = {
  frame: (text) => `a[${JSON.stringify(text)}]`,
  fragment: (text, isFirst, isLast) => `${isFirst ? 'a["' : ''}${JSON.stringify(text).slice(1, -1)}${isLast ? '"]' : ''}`,
  binary: false,
  unframe(frame, isBinary) {
    if (frame.length === 0 || isBinary) return []; // an empty one and a foreign keep-alive say nothing
    try {
      const value = parseJson(frame, { maxValues: MOST_TEXTS });
      const texts = Array.isArray(value) ? value : [value];
      return texts.every((text) => typeof text === 'string') ? texts : null;
    } catch {
      return null; // what is wrong with a broken frame interests nobody: the session ends
    }
  },
  opening: 'o',
  heartbeat: 'h',
  closing: (code, reason) => `c[${code},${JSON.stringify(reason)}]`,
};
