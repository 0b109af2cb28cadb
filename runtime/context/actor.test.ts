import { expect, test } from 'vitest';
import { type Actor, checkpointing, ChildRunIds, startingAs } from './actor.ts';

const actor = (): Actor => ({ childRunIds: new ChildRunIds('run/1.0') }) as unknown as Actor;

test('runs of a part of a statement have the same ids, whatever parts came before it', () => {
  const [whole, repeated] = [actor(), actor()];
  const ids = (by: Actor, parts: readonly number[]): (string | undefined)[] =>
    parts.map((part) => checkpointing(by, part).childRunIds?.next());
  expect(ids(whole, [0, 1, 2]).slice(1)).toEqual(ids(repeated, [1, 2]));
  expect(startingAs(whole, 'p').childRunIds?.next()).toBe(startingAs(repeated, 'p').childRunIds?.next());
});

test('runs of a group have the same ids, whichever of them are left, and other ones in the next group', () => {
  const ids = new ChildRunIds('run/1.0');
  const [first, second] = [ids.group(), ids.group()];
  first.of('a').next();
  const [of, again] = [first.of('b').next(), new ChildRunIds('run/1.0').group().of('b').next()];
  expect(of).toBe(again);
  expect(second.of('b').next()).not.toBe(of);
});
