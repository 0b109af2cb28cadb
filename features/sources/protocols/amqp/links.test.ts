// Which links stay open, and which are closed for others.
import { expect, test } from 'vitest';
import { Links } from './links.ts';

/** Links of a test: what was opened and closed, in order, and how each ends. */
function linksOf(most: number, failing: readonly string[] = []) {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const open = async (target: string, gone: () => void) => {
    log.push(`open ${target}`);
    if (failing.includes(target)) throw new Error(`no ${target}`);
    ends.set(target, gone);
    return { close: () => void log.push(`close ${target}`) };
  };
  const links = new Links(open, most);
  const use = (target: string, work = Promise.resolve()) => links.use(target, () => work);
  return { log, use, ends };
}

test('the link that has not been used for the longest time is closed for a new one', async () => {
  const { log, use } = linksOf(2);
  for (const target of ['a', 'b', 'a', 'c', 'b']) await use(target);
  expect(log).toEqual(['open a', 'open b', 'open c', 'close b', 'open b', 'close a']);
});

test('a link in use stays open; what is too many is closed after its use', async () => {
  const { log, use } = linksOf(1);
  const work = Promise.withResolvers<void>();
  const using = use('a', work.promise);
  await use('b');
  expect(log).toEqual(['open a', 'open b', 'close b']);
  work.resolve();
  await using;
  await use('a');
  expect(log).toEqual(['open a', 'open b', 'close b']);
});

test('what has ended, or did not open, is opened anew; the end of a former link does not matter to its successor', async () => {
  const { log, use, ends } = linksOf(2, ['bad']);
  for (const _ of [1, 2]) await expect(use('bad')).rejects.toThrow('no bad');
  await use('a');
  const end = ends.get('a')!;
  end();
  await use('a');
  end();
  await use('a');
  expect(log).toEqual(['open bad', 'open bad', 'open a', 'open a']);
});
