import fc from 'fast-check';
import { expect, test } from 'vitest';
import { machineOf } from './testing/machine.ts';

const on = (topic: string, alias: string): string => `EVENT OCCURS ON "/topics/${topic}" AS ${alias}`;
const PAIR = `${on('a', 'a')} BEFORE ${on('b', 'b')} WITHIN 5 seconds`;
const BY_ROOM = `${PAIR} CONSTRAIN TO a.value.room == b.value.room`;

test('K1, K3: the example of language.md 6.3: one completing event closes all that wait for it, oldest first', () => {
  const { send, machine } = machineOf(BY_ROOM);
  expect(send('/a', 'door1', 0, { room: 'r1' })).toEqual([]);
  expect(send('/a', 'door2', 1_000, { room: 'r1' })).toEqual([]);
  expect(send('/b', 'move1', 2_000, { room: 'r2' })).toEqual([]);
  expect(send('/b', 'move2', 3_000, { room: 'r1' })).toEqual(['door1+move2', 'door2+move2']);
  expect(send('/b', 'move3', 4_000, { room: 'r1' })).toEqual([]);
  expect(machine.open).toBe(0);
});

test('K1: an event at the deadline completes, one after it does not; K4: without an open evaluation it is dropped', () => {
  const { send } = machineOf(PAIR);
  expect(send('/b', 'early', 0)).toEqual([]);
  send('/a', 'first', 0);
  expect(send('/b', 'in time', 5_000)).toEqual(['first+in time']);
  send('/a', 'second', 10_000);
  expect(send('/b', 'late', 15_001)).toEqual([]);
});

test('K2: of AFTER the right one starts, of AND whichever comes first', () => {
  const after = machineOf(`${on('a', 'a')} AFTER ${on('b', 'b')} WITHIN 5 seconds`);
  expect(after.send('/a', 'a1', 0)).toEqual([]);
  expect(after.send('/b', 'b1', 1)).toEqual([]);
  expect(after.send('/a', 'a2', 2)).toEqual(['a2+b1']);
  const and = machineOf(`${on('a', 'a')} AND ${on('b', 'b')} WITHIN 5 seconds`);
  and.send('/a', 'a1', 0);
  expect(and.send('/b', 'b1', 1)).toEqual(['a1+b1']);
  expect(and.machine.open).toBe(0); // b1 came second: it has begun nothing
  and.send('/b', 'b2', 2);
  expect(and.send('/a', 'a2', 3)).toEqual(['a2+b2']);
});

test('K4: one event on both sides never pairs with itself, but completes an older one and begins a new one', () => {
  const { send, machine } = machineOf(`${on('t', 'x')} BEFORE ${on('t', 'y')} WITHIN 5 seconds`);
  expect(send('/t', 'one', 0)).toEqual([]);
  expect(send('/t', 'two', 1)).toEqual(['one+two']);
  expect(send('/t', 'three', 1)).toEqual(['two+three']);
  expect(machine.open).toBe(1);
  const either = machineOf(`${on('t', 'x')} AND ${on('t', 'y')} WITHIN 5 seconds CONSTRAIN TO x.value < y.value`);
  either.send('/t', 'large', 0, 2);
  expect(either.send('/t', 'small', 1, 1)).toEqual(['small+large']);
  expect(either.machine.open).toBe(0);
});

test('K5: at the deadline an evaluation closes, in the order of the deadlines', () => {
  const { expire, send, machine } = machineOf(PAIR);
  send('/a', 'one', 0);
  send('/a', 'two', 10);
  expect(machine.nextDueMs).toBe(5_000);
  expect(expire(4_999)).toEqual([]);
  expect(expire(5_000)).toEqual(['one']);
  expect(machine.nextDueMs).toBe(5_010);
  expect(expire(60_000)).toEqual(['two']);
  expect(machine.nextDueMs).toBe(null);
});

test('K7: an error in CONSTRAIN TO counts as false and is told of', () => {
  const { send, errors, machine } = machineOf(`${PAIR} CONSTRAIN TO a.value.n < b.value.n`);
  send('/a', 'one', 0, { n: 1 });
  expect(send('/b', 'text', 1, { n: 'x' })).toEqual([]);
  expect(errors).toHaveLength(1);
  expect(machine.open).toBe(1);
});

test('K8: left-associative: the second interval counts from the completion of the left pair', () => {
  const { send, expire, machine } = machineOf(`${PAIR} BEFORE ${on('c', 'c')} WITHIN 2 seconds`);
  send('/a', 'a1', 0);
  expect(send('/b', 'b1', 4_000)).toEqual([]);
  expect(machine.nextDueMs).toBe(6_000);
  expect(send('/c', 'c1', 6_000)).toEqual(['a1+b1+c1']);
  send('/a', 'a2', 10_000);
  expect(expire(15_000)).toEqual([]); // a nested time-out just closes
  send('/a', 'a3', 20_000);
  send('/b', 'b3', 20_001);
  expect(expire(23_000)).toEqual(['a3+b3']);
});

test('K8: a parenthesised right side is one event that occurs with its last part', () => {
  const { send } = machineOf(`${on('a', 'a')} BEFORE (${on('b', 'b')} AND ${on('c', 'c')} WITHIN 3 seconds) WITHIN 5 seconds`);
  send('/b', 'b1', 0);
  send('/a', 'a1', 1_000);
  expect(send('/c', 'c1', 2_000)).toEqual(['a1+b1+c1']);
  send('/a', 'a2', 10_000);
  send('/c', 'c2', 11_000);
  expect(send('/b', 'b2', 14_500)).toEqual([]); // its own parts are too far apart
});

test('K10: beyond its bound the oldest evaluation closes without a time-out', () => {
  const tested = machineOf(PAIR, 2);
  for (const name of ['one', 'two', 'three']) tested.send('/a', name, 0);
  expect(tested.full).toBe(1);
  expect(tested.send('/b', 'b', 1)).toEqual(['two+b', 'three+b']);
});

test('K9: an event that is replayed completes nothing that was begun after it', () => {
  const trigger = `${on('a', 'a')} BEFORE ${on('b', 'b')} WITHIN 5 seconds CONSTRAIN TO a.value == b.value BEFORE ${on('a', 'c')} WITHIN 5 seconds`;
  const before = machineOf(trigger);
  before.send('/a', 'waiting', 0, 1);
  before.send('/a', 'a', 10, 2);
  before.send('/b', 'b', 20, 2);
  const pair = [...before.machine.evaluations()].filter(({ events }) => events.length === 2);
  expect(pair).toHaveLength(1);
  const after = machineOf(trigger);
  for (const one of pair) after.machine.restore(one);
  expect(after.replay('/a', 'waiting', 0, 1)).toEqual([]);
  expect(after.send('/a', 'later', 30, 3)).toEqual(['a+b+later']);
});

/** Values that language.md 4.7 finds equal across kinds, and such that it does not. */
const value = fc.constantFrom<unknown>(
  ...[1, 2, '1', '1.0', ' 1', 'x', 'true', true, false, null, [1, 2], ['x'], { a: 1 }, '\u0001r1', '\u0001d1.00', '\u0001t1', '2026-01-01'],
  ...['\u0001t1767225600000', 1767225600000, '\u0001cUSD:1.00', '\u0001r0.1', '0.1', '\u0001d0.1', 'USD:1'],
);
const step = fc.record({ side: fc.constantFrom('/a', '/b'), waitMs: fc.nat(3_000), k: value, n: fc.nat(3) });

/** Some are decided by the keys alone, some need a look at what meets. */
const constraints = fc.constantFrom(
  'a.value.k == b.value.k AND a.value.n + 1 == b.value.n + 1',
  'a.value.k == b.value.k',
  'b.value.k == a.value.k AND a.value.n == b.value.n',
  'a.value.k == b.value.k AND a.value.n <= b.value.n',
);

test('what the hash join finds is what testing every open evaluation finds', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom('BEFORE', 'AFTER', 'AND'),
      constraints,
      (steps, operator, constraint) => {
        const trigger = `${on('a', 'a')} ${operator} ${on('b', 'b')} WITHIN 5 seconds CONSTRAIN TO `;
        const keyed = machineOf(trigger + constraint);
        const tested = machineOf(`${trigger}NOT (NOT (${constraint}))`); // no equality on its top level
        let atMs = 0;
        for (const [i, { side, waitMs, k, n }] of steps.entries()) {
          atMs += waitMs;
          expect(keyed.send(side, `e${i}`, atMs, { k, n })).toEqual(tested.send(side, `e${i}`, atMs, { k, n }));
          expect(keyed.expire(atMs - 1_000)).toEqual(tested.expire(atMs - 1_000));
        }
        expect(keyed.machine.open).toBe(tested.machine.open);
      },
    ),
    { numRuns: 300 },
  );
});
