// Which ways of shutting a process in are tried, and in which order.
import { expect, test } from 'vitest';
import { arrangements } from './arrangements.ts';

const host = { bwrap: '/bwrap', unshare: '/unshare', isRoot: false, readable: [], hasFilter: true };

test('bubblewrap is tried without a name of its own, which containers may forbid to set, before anything weaker', () => {
  const tried = arrangements(host);
  expect(tried.map(({ level }) => level)).toEqual(['filtered', 'filtered', 'namespaces', 'none']);
  const sets = tried.map(({ wrap }) => wrap('/node', [], 3).args.includes('--hostname'));
  expect(sets).toEqual([true, false, false, false]);
  expect(tried[1]!.wrap('/node', [], 3).args).toEqual(
    tried[0]!.wrap('/node', [], 3).args.filter((arg) => !['--hostname', 'sandbox'].includes(arg)),
  );
});

test('root shuts in without a namespace of users where it can', () => {
  expect(arrangements({ ...host, isRoot: true }).map(({ ownUsers }) => ownUsers)).toEqual([false, true, false, true, false, true, false]);
});
