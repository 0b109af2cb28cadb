import { expect, test } from 'vitest';
import { callsAt } from './call-sites.ts';

test.each([
  ['7', 0],
  ['3/7', 1],
  ['3/0/7', 2],
  ['3/', 0],
  ['3/0/', 1],
  ['state:total', 0],
])('a request at %s was asked %i calls deep', (site, calls) => {
  expect(callsAt(site)).toBe(calls);
});
