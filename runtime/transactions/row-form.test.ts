import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowOf, storedRow } from './row-form.ts';
import type { Read, Step, StoredEvent, JournalRow } from './types.ts';

const name = fc.stringMatching(/^[a-z]{1,4}(:[1-9])?$/);
const run = fc.record({
  rule: name,
  program: fc.constantFrom('a'.repeat(64), 'b'.repeat(64)),
  binds: fc.constantFrom('event' as const, 'value' as const),
});
const unusual = fc.record(
  {
    attempt: fc.nat(5),
    sequence: fc.record({ partitionId: fc.nat(9), sequenceId: fc.nat(9) }),
    redelivered: fc.constant(true as const),
    order: fc.nat(99),
    transport: fc.record({ topic: fc.option(name), properties: fc.constant('{"a":1}') }),
  },
  { requiredKeys: [] },
);
const event: fc.Arbitrary<StoredEvent> = fc
  .record({
    uuid: fc.uuid(),
    path: fc.constantFrom('/types/A/insert', '/topics/t'),
    value: fc.oneof(fc.json(), fc.constant('"two\\nlines"'), fc.constant('a\nb\n\nc'), fc.constant(''), fc.constant(null as never)),
    at: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
    by: fc.constantFrom('ann', 'bob'),
    depth: fc.nat(2),
    via: fc.option(fc.array(name, { maxLength: 2 }), { nil: undefined }),
    root: fc.option(fc.uuid()),
    runs: fc.array(
      fc.oneof(run, fc.record({ ...{ rule: name }, program: name, binds: fc.constant('event' as const), places: fc.constant([0, 2]) })),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    more: fc.oneof(fc.constant({}), unusual),
  })
  .map(({ depth, via, root, more, ...rest }) => ({
    ...rest,
    chain: { root: root ?? rest.uuid, depth, ...(via && { via }) },
    ...more,
  }));

const answer = fc.oneof(
  fc.record({ ok: fc.json() }),
  fc.record({ list: fc.constant('[{"a":1},"b\\n"]') }),
  fc.record({ error: fc.record({ code: name, message: fc.string(), params: fc.constant([1, 'x']), status: fc.constantFrom(400, 404) }) }),
);
const moment = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true });
const read = fc.record(
  { site: name, nth: fc.nat(9), at: moment, answer, request: fc.constant('0a_-9'), seen: fc.constant('3 t.A/1\n0 t.B/2') },
  { requiredKeys: ['site', 'nth', 'at', 'answer'] },
) as fc.Arbitrary<Read>;
const step = fc
  .tuple(read, fc.uuid(), name, moment, fc.array(read, { maxLength: 3 }))
  .map(([one, uuid, rule, startedAt, reads]): Step => ({ ...one, run: `${uuid}/${rule}/1`, startedAt, reads }));

test('a row comes back as it was, whatever its events have in common', () => {
  const ends = fc.array(fc.tuple(fc.uuid(), name), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), fc.array(step, { maxLength: 4 }), ends, (events, steps, ended) => {
      // Neighbours that are alike, as those of most batches are.
      const all = events.flatMap((one) => [one, { ...one, uuid: `${one.uuid}2`, chain: { ...one.chain, root: `${one.uuid}2` } }]);
      const row: JournalRow = {
        _id: { epoch: 1, slot: 0, seq: 3 },
        order: 7,
        events: all,
        steps,
        done: ended.map(([uuid, rule]) => `${uuid}/${rule}/1`),
      };
      expect(rowOf(storedRow(row))).toEqual(row);
    }),
  );
});

test('what events have in common stands once', () => {
  const one: StoredEvent = {
    uuid: 'u1',
    path: '/types/A/insert',
    value: '{"x":1}',
    at: new Date(5),
    by: 'ann',
    chain: { root: 'u1', depth: 0 },
    runs: [{ rule: 'r', program: 'p', binds: 'value' }],
  };
  const events = Array.from({ length: 100 }, (_, n) => ({
    ...one,
    uuid: `u${n}`,
    chain: { root: `u${n}`, depth: 0 },
    runs: [...one.runs],
  }));
  const stored = storedRow({ _id: { epoch: 1, slot: 0, seq: 0 }, order: 1, events, steps: [], done: [] });
  expect(stored.heads).toHaveLength(1);
  expect(stored.events[7]).toBe('u7\n0\n5\n\n{"x":1}');
});
