import { expect, test } from 'vitest';
import { choose } from './choose.mjs';

const never = (): boolean => {
  throw new Error('the answer does not depend on the natives');
};

test.each(['v22.12.0', 'v22.23.3', 'v22.99.0'])('%s goes on as it is', (version) => {
  expect(choose(version, undefined, never)).toEqual({ use: 'this' });
});

test.each(['v18.20.8', 'v20.20.2', 'v21.7.3', 'v22.11.0'])('%s is too old, whatever loads in it', (version) => {
  expect(choose(version, undefined, never)).toEqual({ use: 'pinned' });
});

test.each(['v23.0.0', 'v24.21.0', 'v26.10.0'])('%s goes on where both natives load in it, and only there', (version) => {
  expect(choose(version, undefined, () => true)).toEqual({ use: 'this' });
  expect(choose(version, undefined, () => false)).toEqual({ use: 'pinned' });
});

test('a named Node goes before all others, an empty name counts as none', () => {
  expect(choose('v22.23.3', '/opt/node', never)).toEqual({ use: 'named', file: '/opt/node' });
  expect(choose('v20.20.2', '/opt/node', never)).toEqual({ use: 'named', file: '/opt/node' });
  expect(choose('v22.23.3', '', never)).toEqual({ use: 'this' });
});
