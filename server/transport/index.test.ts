import { expect, test } from 'vitest';
import { openTransport, type Transport } from './index.ts';

const node = { kind: 'node' } as Transport;
const openings = { uws: () => Promise.reject(new Error('no binary')), node: async () => node };

test('where uWebSockets.js cannot be loaded the transport is Node, and the fallback is reported', async () => {
  const reported: unknown[] = [];
  expect(await openTransport(undefined, (reason) => reported.push(reason), openings)).toBe(node);
  expect(reported).toEqual([new Error('no binary')]);
});

test('a requested transport is opened, or its absence is an error', async () => {
  const reported: unknown[] = [];
  expect(await openTransport('node', (reason) => reported.push(reason), openings)).toBe(node);
  await expect(openTransport('uws', (reason) => reported.push(reason), openings)).rejects.toThrow('uWebSockets.js does not load');
  expect(reported).toEqual([]);
});

test.each(['uws', 'node'] as const)('%s can be opened', async (kind) => {
  const transport = await openTransport(kind, () => undefined);
  expect(transport.kind).toBe(kind);
  await transport.close();
});
