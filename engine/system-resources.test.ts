// The names of resources outside the registry: the compiler reserves them in packages, the model reserves them for types, the client of the
// cases addresses them, profiles grant rights on them, projects have them as files.
import { expect, test } from 'vitest';
import { SYSTEM_RESOURCES as ofCompiler } from '../compiler/2-check/names.ts';
import { SYSTEM_RESOURCES as ofModel } from '../model/types/index.ts';
import { SYSTEM_RESOURCES as ofClient } from '../case-runner/client/rest-client.ts';
import { JSON_FOLDERS, PROGRAMS } from '../features/projects/layout.ts';
import { INVOKED } from '../resources/access/rights.ts';
import { FEATURES } from './features.ts';

const registered = [
  ...[...FEATURES.addressed()].filter(({ custom }) => !custom).map(({ name }) => name),
  ...FEATURES.installation.map(({ name }) => name),
].filter((name) => /^[a-z]+$/.test(name));

test('the names that the model and the compiler reserve are the ones that features register', () => {
  expect([...ofModel].sort()).toEqual(registered.sort());
  expect([...ofCompiler].sort()).toEqual([...ofModel].sort());
  expect([...ofClient].sort()).toEqual([...ofModel].sort());
});

const kinds = [...FEATURES.addressed()].filter(({ resource }) => resource.kind === 'definitions').map(({ name }) => name);

test('a project has each kind of definition in a folder, but for secrets', () => {
  expect([...JSON_FOLDERS, ...PROGRAMS, 'secrets', 'deployconfigs'].sort()).toEqual(kinds.sort());
});

test('profiles grant the changes of each kind of definition, but for those whose rights are fixed', () => {
  expect([...Object.keys(INVOKED), 'groups', 'secrets', 'projects', 'deployconfigs'].sort()).toEqual(kinds.sort());
});
