import { expect, test } from 'vitest';
import type { CascadeError } from '../../stdlib/errors.ts';
import { type ObjectValue, Real, type Value } from '../../stdlib/values/index.ts';
import type { CascadeErrors } from '../errors/api-errors.ts';
import { checkFinal, parseType, prepareChanges, prepareInsert, prepareUpdate } from './index.ts';

const known = { types: new Map(), scalars: new Map() };
const type = parseType(
  {
    name: 'Pump',
    properties: {
      site: { type: 'String', required: true, maxLength: 3 },
      rpm: { type: 'Integer', default: '900' },
      tags: { type: 'String', multi: true, default: ['new'], maxLength: 3 },
    },
    groupEnabled: true,
    groupRequired: true,
  },
  known,
);
const codesOf = (run: () => unknown): string[] => {
  try {
    run();
  } catch (error) {
    const errors = (error as CascadeErrors).errors ?? [error as CascadeError];
    return errors.map(({ code, params }) => `${code.replace('cascade.', '')} ${params.join()}`);
  }
  return [];
};

test('a new instance has the defaults of what is absent, not of what is null', () => {
  expect(prepareInsert(type, { tags: null, site: 'n1' })).toEqual({ site: 'n1', rpm: 900, tags: null });
});

test('each instance has a default of its own', () => {
  const [a, b] = [prepareInsert(type, {}), prepareInsert(type, {})];
  (a.tags as Value[]).push('x');
  expect(b.tags).toEqual(['new']);
});

test('members come in the order of declaration, system properties last', () => {
  const body = { ars_public: 'true', ars_group: 'g', tags: ['a'], rpm: 1, site: 'n1' };
  expect(Object.entries(prepareInsert(type, body))).toEqual([
    ['site', 'n1'],
    ['rpm', 1],
    ['tags', ['a']],
    ['ars_group', 'g'],
    ['ars_public', true],
  ]);
});

test('what the service sets is ignored in a body', () => {
  const selected = {
    _id: 'x',
    ars_namespace: 'n',
    ars_version: 4,
    ars_createdAt: 1,
    ars_createdBy: 'a',
    ars_modifiedAt: 'never',
    ars_modifiedBy: 'b',
  };
  expect(prepareInsert(type, { ...selected, rpm: 1, tags: [] })).toEqual({ rpm: 1, tags: [] });
});

test('system properties of the caller are coerced', () => {
  const body = { ars_properties: { n: 1 }, ars_relationships: [{ to: '/a/b', type: 'x' }], ars_dependentResource: '/Silo/1' };
  expect(prepareInsert(type, body)).toMatchObject({ ...body, ars_dependentResource: { resource: 'Silo', resourceId: '1' } });
  expect(codesOf(() => prepareInsert(type, { ars_properties: 5 }))).toEqual(['type.property.invalid Pump,ars_properties,Object,format']);
});

test('all problems of a body are told at once', () => {
  const body = { rpm: 3.5, tags: 'x', odd: 1, ars_odd: 1, _odd: 1, __proto: 1 };
  expect(codesOf(() => prepareInsert(type, body))).toEqual([
    'type.property.invalid Pump,rpm,Integer,fraction',
    'type.property.invalid Pump,tags,String,multi',
    'type.property.unknown Pump,odd',
    'type.property.name.reserved ars_odd',
    'type.property.name.reserved _odd',
    'type.property.name.reserved __proto',
  ]);
});

test('a member called __proto__ is refused like any reserved name', () => {
  const body = JSON.parse('{"__proto__":{"rpm":1}}') as ObjectValue;
  expect(codesOf(() => prepareInsert(type, body))).toEqual(['type.property.name.reserved __proto__']);
});

test('a body that is no object is refused', () => {
  for (const body of [null, 5, 'x', [], new Real(5)]) expect(codesOf(() => prepareInsert(type, body))).toHaveLength(1);
});

test('a schema type has no instances', () => {
  const schema = parseType({ name: 'S', role: 'schema', properties: {} }, known);
  expect(codesOf(() => prepareInsert(schema, {}))).toEqual(['type.role.no.instances S']);
});

test('an update keeps what it does not name, and replaces Objects as a whole', () => {
  const stored = { _id: '1', site: 'n1', rpm: 5, ars_version: 2, ars_properties: { a: 1 } };
  expect(prepareUpdate(type, stored, { rpm: '6', ars_properties: { b: 2 }, ars_version: 9, _id: '2' })).toEqual({
    ...stored,
    rpm: 6,
    ars_properties: { b: 2 },
  });
  expect(stored.rpm).toBe(5);
});

test('an update has no defaults', () => {
  expect(prepareUpdate(type, { site: 'a' }, {})).toEqual({ site: 'a' });
});

test('the version and the id of an update are told apart from its changes', () => {
  expect(prepareChanges(type, { rpm: 1, ars_version: 4, _id: 'x' })).toEqual({ values: { rpm: 1 }, version: 4, id: 'x' });
  expect(codesOf(() => prepareChanges(type, { ars_version: 'four' }))).toEqual(['type.property.invalid Pump,ars_version,Integer,format']);
});

test('required, maxLength and the group are checked in the end', () => {
  expect(codesOf(() => checkFinal(type, { site: null, tags: ['abcd'] }))).toEqual([
    'type.property.required Pump,site',
    'type.property.invalid Pump,tags,String,maxLength',
    'group.required Pump,ars_group,missing',
  ]);
  expect(codesOf(() => checkFinal(type, { site: '😀😀😀', ars_group: 'g' }))).toEqual([]);
});

test('an update may leave a text longer than its maxLength is now, and not write another one [resources-and-api.md 4.1]', () => {
  const stored = { site: 'a', tags: ['abcd'], ars_group: 'g' };
  expect(codesOf(() => checkFinal(type, { ...stored, site: 'b' }, stored))).toEqual([]);
  expect(codesOf(() => checkFinal(type, { ...stored, tags: ['abcd', 'abce'] }, stored))).toEqual([
    'type.property.invalid Pump,tags,String,maxLength',
  ]);
});

test('an update may leave a required property as absent as it was, not clear it', () => {
  expect(codesOf(() => checkFinal(type, { rpm: 2 }, { rpm: 1 }))).toEqual([]);
  expect(codesOf(() => checkFinal(type, { site: null, ars_group: 'g' }, { rpm: 1 }))).toEqual(['type.property.required Pump,site']);
  expect(codesOf(() => checkFinal(type, { ars_group: 'g' }, { site: 'a', ars_group: 'g' }))).toEqual(['type.property.required Pump,site']);
});
