import { expect, test } from 'vitest';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { checkTypeChange, compareTypes, parseType } from './index.ts';

const type = (p: ObjectValue, more: ObjectValue = {}) =>
  parseType({ name: 'T', properties: { p }, ...more }, { types: new Map(), scalars: new Map() });
const needsEmpty = (before: ObjectValue, after: ObjectValue): readonly string[] => compareTypes(type(before), type(after)).needsEmpty;

const changes: [what: string, before: ObjectValue, after: ObjectValue, attributes: string[]][] = [
  ['type', { type: 'String' }, { type: 'Integer' }, ['p.type']],
  ['a scale with its type', { type: 'Decimal', scale: 2 }, { type: 'Currency', scale: 1 }, ['p.type']],
  ['multi', { type: 'String' }, { type: 'String', multi: true }, ['p.multi']],
  ['encrypted', { type: 'String' }, { type: 'String', encrypted: true }, ['p.encrypted']],
  ['a smaller scale', { type: 'Decimal', scale: 2 }, { type: 'Decimal', scale: 1 }, ['p.scale']],
  ['a larger scale', { type: 'Decimal', scale: 2 }, { type: 'Decimal', scale: 3 }, []],
  ['a Currency below its default scale', { type: 'Currency' }, { type: 'Currency', scale: 2 }, ['p.scale']],
  ['maxLength and required', { type: 'String' }, { type: 'String', maxLength: 3, required: true }, []],
  ['default and description', { type: 'String' }, { type: 'String', default: 'x', description: 'y' }, []],
];
for (const [what, before, after, attributes] of changes) {
  test(`a change of ${what} needs ${attributes.length > 0 ? 'an empty type' : 'nothing'}`, () => {
    expect(needsEmpty(before, after)).toEqual(attributes);
  });
}

test('capped and not capped are told apart', () => {
  expect(compareTypes(type({ type: 'String' }), type({ type: 'String' }, { maxStorage: 8192 })).needsEmpty).toEqual(['maxStorage']);
});

test('an incompatible change is refused while there are instances only', () => {
  const change = compareTypes(type({ type: 'String' }), type({ type: 'Integer' }));
  expect(() => checkTypeChange('T', change, false)).not.toThrow();
  expect(() => checkTypeChange('T', change, true)).toThrow(
    expect.objectContaining({ code: 'cascade.type.change.incompatible', params: ['T', 'p.type'] }),
  );
});

test('name and role are for ever', () => {
  const immutable = expect.objectContaining({ code: 'cascade.resource.key.immutable' });
  expect(() => compareTypes(type({ type: 'String' }), type({ type: 'String' }, { name: 'U' }))).toThrow(immutable);
  expect(() => compareTypes(type({ type: 'String' }), type({ type: 'String' }, { role: 'schema' }))).toThrow(immutable);
});

test('a unique index of another type is another index', () => {
  const change = compareTypes(type({ type: 'String', unique: true }), type({ type: 'Integer', unique: true }));
  expect(change.indexesToBuild.map(({ name }) => name)).toEqual(['unique:p:1:Integer']);
});

test('properties and indexes that come and go are told', () => {
  const before = type({ type: 'String', unique: true }, { expiresAfter: '1 day' });
  const after = parseType(
    { name: 'T', properties: { q: { type: 'String', indexed: true } }, expiresAfter: '2 days' },
    { types: new Map(), scalars: new Map() },
  );
  const change = compareTypes(before, after);
  expect([change.added, change.removed]).toEqual([['q'], ['p']]);
  expect(change.indexesToBuild.map(({ name }) => name)).toEqual(['index:q:1', 'expiry:172800']);
  expect(change.indexesToDrop.map(({ name }) => name)).toEqual(['unique:p:1:String', 'expiry:86400']);
});

test('where instances expire, an index on the time of creation is that of the expiry: the database has no two of one key', () => {
  const indexed = { indexes: [{ keys: ['ars_createdAt'] }] };
  const change = compareTypes(type({ type: 'String' }, indexed), type({ type: 'String' }, { ...indexed, expiresAfter: '1 day' }));
  expect(change.indexesToBuild.map(({ name }) => name)).toEqual(['expiry:86400']);
  expect(change.indexesToDrop.map(({ name }) => name)).toEqual(['index:ars_createdAt:1']);
});
