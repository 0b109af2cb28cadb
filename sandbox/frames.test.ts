import type { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { frameReader, writeFrame } from './frames.ts';

function written(frames: readonly (readonly [object, string])[]): Buffer {
  const parts: Buffer[] = [];
  const socket = { write: (part: Buffer) => parts.push(part) } as unknown as Socket;
  for (const [header, text] of frames) writeFrame(socket, header, text);
  return Buffer.concat(parts);
}

test('frames are read as they were written, however the bytes are cut', () => {
  const frame = fc.tuple(
    fc.record({ a: fc.integer(), b: fc.string({ unit: 'grapheme' }) }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.nat(40), { minLength: 1 }), (frames, cuts) => {
      const bytes = written(frames);
      const found: unknown[] = [];
      const read = frameReader((header, text) => found.push([header, text]));
      for (let at = 0, i = 0; at < bytes.length; i += 1) {
        const next = at + 1 + (cuts[i % cuts.length] as number);
        read(bytes.subarray(at, next));
        at = next;
      }
      expect(found).toEqual(frames);
    }),
  );
});

test('what can be no frame is refused', () => {
  const read = frameReader(() => {});
  expect(() => read(Buffer.from('ffffffffff00', 'hex'))).toThrow('bytes');
  expect(() => frameReader(() => {})(Buffer.from('0500000009000000aa', 'hex'))).toThrow('header');
});
