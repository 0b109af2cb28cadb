// Three layers know the names of system resources: the compiler keeps them in packages, the model keeps types from having them, the registry has them.
import { expect, test } from 'vitest';
import { SYSTEM_RESOURCES as ofCompiler } from '../compiler/2-check/names.ts';
import { SYSTEM_RESOURCES as ofModel } from '../model/types/index.ts';
import { FEATURES } from './features.ts';

const registered = [
  ...[...FEATURES.addressed()].filter(({ custom }) => !custom).map(({ name }) => name),
  ...FEATURES.installation.map(({ name }) => name),
].filter((name) => /^[a-z]+$/.test(name));

test('the names that the model and the compiler reserve are the ones that features register', () => {
  expect([...ofModel].sort()).toEqual(registered.sort());
  expect([...ofCompiler].sort()).toEqual([...ofModel].sort());
});
