// The texts of deliveries in a namespace with a key: sealed once, and passed on as they were read.
import { Long } from 'mongodb';
import { expect, test } from 'vitest';
import type { Cipher } from '../../model/types/index.ts';
import type { StoredEvent } from '../../runtime/transactions/index.ts';
import { continued, type Delivery, fromStored, insertions, newDelivery, replacing } from './stored-delivery.ts';

function counting() {
  let seals = 0;
  const cipher: Cipher = {
    seal: (text, id, purpose) => Buffer.from(`${purpose} ${id} ${text} ${++seals}`),
    open: (bytes, id, purpose) => Buffer.from(bytes).toString().slice(`${purpose} ${id} `.length).replace(/ \d+$/, ''),
  };
  return { cipher, seals: () => seals };
}

const event: StoredEvent = {
  uuid: 'e1',
  path: '/topics/a/publish',
  value: '{"pin":1}',
  at: new Date(0),
  by: 'ann',
  chain: { root: 'e1', depth: 0 },
  runs: [],
  transport: { properties: '{"a":2}' } as NonNullable<StoredEvent['transport']>,
};
const made = newDelivery(event, '/rules/r', { frequencyMs: 1_000, ttlMs: 60_000 }, 0, 1);

const documentOf = (write: object | undefined): Delivery => (write as { document: Delivery }).document;

test('what a redelivery changes in a delivery leaves its sealed texts as they were read, for another version of the rule, too', () => {
  const { cipher, seals } = counting();
  const stored = documentOf(insertions([made], cipher)[0]);
  expect(seals()).toBe(2);
  const read = fromStored(stored, cipher);
  expect(read.event).toMatchObject({ value: event.value, transport: event.transport });
  const replaced = documentOf(replacing(read, { attempts: 2 }, cipher).writes[0]);
  const [, moved] = continued(read, '/rules/r:2', { attempts: 2 }, cipher);
  for (const document of [replaced, documentOf(moved)]) {
    expect(document.event).toEqual(stored.event);
    expect(document).not.toHaveProperty('sealedTexts');
    expect(document.attempts).toBe(2);
  }
  expect(seals()).toBe(2);
});

test('what was stored before there was a key is sealed with the next change', () => {
  const { cipher } = counting();
  const read = fromStored({ ...documentOf(insertions([made], null)[0]), ars_version: Long.ONE }, cipher);
  const { value, transport } = documentOf(replacing(read, { attempts: 2 }, cipher).writes[0]).event;
  expect([value, transport?.properties]).toEqual([expect.stringMatching(/^\u0002/), expect.stringMatching(/^\u0002/)]);
});
