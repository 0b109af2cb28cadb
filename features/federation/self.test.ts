// The node `self` after a crash (integrations.md 11.1, 12.6).
import type { Db } from 'mongodb';
import { expect, test } from 'vitest';
import { RowReader } from '../../platform/mongo/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { type Asked, carriedOut, PAGE_ROWS } from './requests.ts';
import { onSelf } from './self.ts';

test('a write that was stored before a crash is not made again, and gives what it gave', async () => {
  const asked = { kind: 'insert', statement: { resource: 'Pump', values: {} }, gathers: false, streams: true, requestId: '' };
  const actor = { checkpoints: new Map([[0, '{"_id":"1"}']]) } as unknown as Actor;
  const found = [];
  for await (const page of onSelf({} as Namespace, asked, actor, 0)) found.push(page);
  expect(found).toEqual([[{ _id: '1' }]]);
});

test.each([
  ['here', (asked: Asked) => onSelf({ states: new Map() } as unknown as Namespace, asked, {} as Actor, 1)],
  ['on another node', (asked: Asked) => carriedOut({} as Namespace, asked, () => Promise.reject(new Error('it is asked again')), 1)],
])('a SELECT %s whose rows are one value gives no second one after a crash behind it', async (_, carried) => {
  const statement = { resource: 'Pump', cardinality: 'array', limit: null, skip: null };
  const found = [];
  for await (const page of carried({ kind: 'select', statement, gathers: true, streams: true, requestId: '' })) found.push(page);
  expect(found).toEqual([]);
});

test('rows of a node that are gathered for aggregates over expressions are counted until they are handed on', async () => {
  const rows = new RowReader({} as Db);
  const space = { storage: { rows }, catalog: { features: { named: () => undefined, installationResource: () => null } } };
  const held: number[] = [];
  const send = async () => {
    held.push(rows.heldBytes);
    const length = held.length < 3 ? PAGE_ROWS : 1;
    return { value: Array.from({ length }, (_, n): Value => ({ n, text: 'x'.repeat(100) })), count: null, isPartial: false };
  };
  const statement = { resource: 'Pump', cardinality: 'array', limit: null, skip: null, where: {} };
  const asked: Asked = { kind: 'select', statement, gathers: true, streams: true, requestId: '' };
  const given: number[] = [];
  for await (const page of carriedOut(space as unknown as Namespace, asked, send)) given.push((page[0] as Value[]).length, rows.heldBytes);
  expect(held[0]).toBe(0);
  expect(held[1]).toBeGreaterThan(100 * PAGE_ROWS);
  expect(held[2]).toBeGreaterThan(200 * PAGE_ROWS);
  expect(given).toEqual([2 * PAGE_ROWS + 1, expect.any(Number)]);
  expect(given[1]).toBeGreaterThan(held[2] ?? 0);
  expect(rows.heldBytes).toBe(0);
});
