// The node `self` after a crash (integrations.md 11.1, 12.6).
import { expect, test } from 'vitest';
import type { Actor } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { type Asked, carriedOut } from './requests.ts';
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
