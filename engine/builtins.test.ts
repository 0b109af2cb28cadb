// Built-ins that the service answers are declared in stdlib/ and answered by a feature; here both are compared.
import { expect, test } from 'vitest';
import { allBuiltins } from '../stdlib/builtins/index.ts';
import { FEATURES } from './features.ts';

test('every built-in that asks the service, and not what the run knows itself, is answered by one feature, and none answers what is not declared', () => {
  const declared = [...allBuiltins()].flatMap(({ overloads }) => overloads).filter(({ host }) => host && !host.shared && !host.known);
  expect([...new Set(declared.map(({ name }) => name))].sort()).toEqual([...FEATURES.builtins.keys()].sort());
});
