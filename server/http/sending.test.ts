// A long piece is handed to the connection in parts, between which others have their turn.
import { expect, test } from 'vitest';
import type { Exchange } from '../transport/index.ts';
import type { WireReply } from './headers.ts';
import { Connection } from './sending.ts';

const MOST_BYTES = 4 * 256 * 1024;

/** Sends these pieces over a connection that takes all of them. */
async function sent(pieces: readonly (string | Buffer)[]): Promise<{ parts: (string | Buffer)[]; turns: number[] }> {
  const parts: (string | Buffer)[] = [];
  const turns: number[] = [];
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  const take = (part: string | Buffer): boolean => {
    parts.push(part);
    turns.push(turn);
    return true;
  };
  const exchange = {
    onAborted: () => undefined,
    onWritable: () => undefined,
    begin: (_head: unknown, part: string | Buffer) => take(part),
    write: take,
    end: () => undefined,
  };
  const left = [...pieces];
  const wire = { status: 200, headers: [], pieces: { next: async () => left.shift() ?? null, close: async () => undefined } };
  const connection = new Connection(exchange as unknown as Exchange, () => undefined);
  setImmediate(count);
  await connection.send(wire as unknown as WireReply, { isHead: false, closes: false });
  isOver = true;
  return { parts, turns };
}

test.each([
  ['a text', ['[', '"x'.repeat(700_000), ']']],
  ['characters of two code units, on every cut', [`a${'😀'.repeat(600_000)}`]],
  ['bytes', [Buffer.alloc(1_500_000, 'ab')]],
])('%s: in parts, in its order, one in a turn', async (_, pieces) => {
  const { parts, turns } = await sent(pieces);
  const bytes = parts.map((part) => Buffer.from(part));
  expect(Buffer.compare(Buffer.concat(bytes), Buffer.concat(pieces.map((piece) => Buffer.from(piece))))).toBe(0);
  expect(Math.max(...bytes.map(({ length }) => length))).toBeLessThanOrEqual(MOST_BYTES);
  expect(parts.length).toBeGreaterThan(4);
  const long = turns.slice(pieces.length === 1 ? 0 : 1, pieces.length === 1 ? undefined : -1);
  expect(new Set(long).size).toBe(long.length);
});

test('what is short is one part', async () => {
  const { parts } = await sent(['[1,', '2]']);
  expect(parts).toEqual(['[1,', '2]']);
});
