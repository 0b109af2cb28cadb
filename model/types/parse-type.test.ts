import { expect, test } from 'vitest';
import { CascadeError } from '../../stdlib/errors.ts';
import { Decimal, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeErrors } from '../errors/api-errors.ts';
import { mongoIndexes, parseType, type ScalarDefinition, type TypeDefinition, typeToValue } from './index.ts';

const known = {
  types: new Map<string, TypeDefinition>(),
  scalars: new Map<string, ScalarDefinition>([['Percent', { name: 'Percent', baseType: 'Decimal', scale: 1 }]]),
};
const silo: ObjectValue = {
  name: 'Silo',
  properties: {
    code: { type: 'String', required: true, maxLength: 12 },
    level: { type: 'Decimal', scale: 2, default: '0' },
    place: { type: 'GeoJSON' },
    alarms: { type: 'String', multi: true },
  },
  naturalKey: ['code'],
  indexes: [{ keys: ['code'], options: { unique: true } }, { keys: ['#place'] }],
  audited: true,
  expiresAfter: '30 days',
};
const withProperty = (property: Value): ObjectValue => ({ name: 'T', properties: { p: property } });

/** The refusals of a definition, without the prefix: `type.key.unknown T,p`. */
function refusalsOf(body: ObjectValue): string[] {
  try {
    parseType(body, known);
  } catch (error) {
    const errors = error instanceof CascadeErrors ? error.errors : [error as CascadeError];
    if (!errors.every((each) => each instanceof CascadeError)) throw error;
    return errors.map(({ code, params }) => `${code.replace('cascade.', '')} ${params.join()}`);
  }
  return [];
}

test('the type of the specification is read as it is meant', () => {
  const type = parseType(silo, known);
  expect([...type.properties.keys()]).toEqual(['code', 'level', 'place', 'alarms']);
  expect(type.properties.get('level')).toMatchObject({
    base: 'Decimal',
    kind: 'base',
    scale: 2,
    multi: false,
    default: new Decimal(0n, 2),
  });
  expect(type).toMatchObject({ role: 'standard', naturalKey: ['code'], audited: true, expiresAfterMs: 30 * 86_400_000, maxStorage: 0 });
});

test('the representation has the defaults of the fields and reads as the same type', () => {
  const value = typeToValue(parseType(silo, known));
  expect(value).toMatchObject({
    role: 'standard',
    properties: silo.properties as ObjectValue,
    indexes: [
      { keys: ['code'], options: { unique: true } },
      { keys: ['#place'], options: {} },
    ],
    userAccessLevel: 'ars_readOnly',
    adminAccessLevel: 'ars_readWrite',
    foreignKeys: null,
    expiresAfter: '30 days',
  });
  expect(typeToValue(parseType(value, known))).toEqual(value);
});

test('what we do not know is stored and returned unchanged', () => {
  const body = { name: 'T', properties: { p: { type: 'String', colour: { a: 1 } } }, storageManager: 'x', future: [1] };
  const type = parseType(body, known);
  expect(typeToValue(type)).toMatchObject(body);
  expect(type.properties.get('p')?.other).toEqual({ colour: { a: 1 } });
});

test('null members of an exported file mean that a field is not set', () => {
  const nulls = { foreignKeys: null, maxStorage: 0, maxObjects: 0, expiresAfter: null, groupBy: null, indexes: null, accessLevels: null };
  expect(refusalsOf({ name: 'T', properties: { p: { type: 'String', default: null, maxLength: null } }, ...nulls })).toEqual([]);
});

test('a foreign key names its type and pairs of properties; of a wrong one its place is told', () => {
  const refused = (...foreignKeys: Value[]): unknown => refusalsOf({ ...withProperty({ type: 'String' }), foreignKeys });
  const right = { type: 'Silo', keys: [{ property: 'p', targetProperty: 'code' }] };
  expect(refused(right, { ...right, keys: [] })).toEqual([]);
  for (const wrong of [5, null, {}, { ...right, type: 1 }, { ...right, keys: 'p' }, { ...right, keys: [{ property: 'p' }] }])
    expect(refused(right, wrong)).toEqual([
      'resource.property.invalid types,foreignKeys.1,no type with keys of property and targetProperty',
    ]);
});

test('system properties in the body are not part of the definition', () => {
  const type = parseType({ name: 'T', properties: {}, _id: 'x', ars_version: 4, ars_group: 'g' }, known);
  expect(type.other).toEqual({});
});

test('a user scalar gives its base type and its scale', () => {
  const type = parseType(withProperty({ type: 'Percent', default: '7.25' }), known);
  expect(type.properties.get('p')).toMatchObject({
    type: 'Percent',
    base: 'Decimal',
    kind: 'scalar',
    scale: 1,
    default: new Decimal(73n, 1),
  });
});

test("another type's structure is the one it has when it is used", () => {
  const inner = parseType({ name: 'Inner', properties: {} }, known);
  const types = new Map([['Inner', inner]]);
  const outer = parseType(withProperty({ type: 'Inner' }), { ...known, types });
  expect(outer.properties.get('p')).toMatchObject({ base: 'Object', kind: 'type' });
  expect(outer.properties.get('p')?.structure?.()).toBe(inner);
  types.delete('Inner');
  expect(outer.properties.get('p')?.structure?.()).toBeUndefined();
});

test('a type may name itself', () => {
  const types = new Map<string, TypeDefinition>();
  const tree = parseType({ name: 'Tree', properties: { left: { type: 'Tree' } } }, { ...known, types });
  types.set('Tree', tree);
  expect(tree.properties.get('left')?.structure?.()).toBe(tree);
});

const string = { type: 'String' };
const wrong: [what: string, body: ObjectValue, ...refusals: string[]][] = [
  ['no name', { properties: {} }, 'resource.property.required types,name'],
  ['no properties', { name: 'T' }, 'resource.property.required types,properties'],
  ['a name that is none', { name: '9T', properties: {} }, 'resource.name.invalid 9T,syntax'],
  ['a reserved name', { name: 'ArsThing', properties: {} }, 'type.name.reserved ArsThing'],
  ['the name of a system resource', { name: 'topics', properties: {} }, 'type.name.reserved topics'],
  ['the name of a scalar type', { name: 'Decimal', properties: {} }, 'type.name.reserved Decimal'],
  ['an unknown role', { name: 'T', role: 'x', properties: {} }, 'resource.property.invalid types,role,neither standard nor schema'],
  ['a flag that is no Boolean', { name: 'T', properties: {}, audited: 'yes' }, 'resource.property.invalid types,audited,no Boolean'],
  ['a property without type', withProperty({}), 'type.property.type T,p,'],
  ['an unknown type', withProperty({ type: 'Map' }), 'type.property.type T,p,Map'],
  ['a Decimal without scale', withProperty({ type: 'Decimal' }), 'type.property.scale.required T,p'],
  ['a scale of 31', withProperty({ type: 'Decimal', scale: 31 }), 'resource.property.invalid types,properties.p.scale,not within 0 and 30'],
  ['a default that does not fit', withProperty({ type: 'Integer', default: 'x' }), 'type.property.default T,p'],
  ['a default that is too long', withProperty({ type: 'String', maxLength: 1, default: 'ab' }), 'type.property.default T,p'],
  ['a default that is no array', withProperty({ type: 'String', multi: true, default: 'ab' }), 'type.property.default T,p'],
  ['a reserved property', { name: 'T', properties: { ars_x: string } }, 'type.property.name.reserved ars_x'],
  ['a property with a leading _', { name: 'T', properties: { _x: string } }, 'type.property.name.reserved _x'],
  ['a property with a blank', { name: 'T', properties: { 'a b': string } }, 'type.property.name.invalid a b'],
  ['an unknown natural key', { ...withProperty(string), naturalKey: ['q'] }, 'type.key.unknown T,q'],
  ['a multi-valued natural key', { ...withProperty({ ...string, multi: true }), naturalKey: ['p'] }, 'type.key.unknown T,p'],
  ['an unknown index key', { ...withProperty(string), indexes: [{ keys: ['-q.x'] }] }, 'type.key.unknown T,q.x'],
  ['an index without keys', { ...withProperty(string), indexes: [{ keys: [] }] }, 'type.index.invalid T,indexes.0.keys'],
  ['a geo index on a String', { ...withProperty(string), indexes: [{ keys: ['#p'] }] }, 'type.index.invalid T,p'],
  [
    'two geo keys',
    { name: 'T', properties: { a: { type: 'GeoJSON' }, b: { type: 'GeoJSON' } }, indexes: [{ keys: ['#a', '#b'] }] },
    'type.index.invalid T,b',
  ],
  ['an index on an encrypted property', withProperty({ ...string, encrypted: true, unique: true }), 'type.index.invalid T,p'],
  ['group flags', { name: 'T', properties: {}, groupRequired: true }, 'type.group.flags T,groupRequired needs groupEnabled'],
  ['an unknown level', { name: 'T', properties: {}, userAccessLevel: 'x' }, 'type.access.level.unknown T,userAccessLevel x'],
  ['a storage below 4096', { name: 'T', properties: {}, maxStorage: 4095 }, 'type.storage.invalid T,maxStorage must be at least 4096'],
  ['maxObjects alone', { name: 'T', properties: {}, maxObjects: 5 }, 'type.storage.invalid T,maxObjects needs maxStorage'],
  [
    'an expiry without unit',
    { name: 'T', properties: {}, expiresAfter: '30' },
    'type.expiry.invalid T,expiresAfter is no interval above 0',
  ],
  ['an expiry of 0', { name: 'T', properties: {}, expiresAfter: 0 }, 'type.expiry.invalid T,expiresAfter is no interval above 0'],
  [
    'several problems, told at once',
    { name: 'T', properties: { a: { type: 'Nix' }, _b: string }, naturalKey: ['c'], maxStorage: 1 },
    'type.property.type T,a,Nix',
    'type.property.name.reserved _b',
    'type.key.unknown T,c',
    'type.storage.invalid T,maxStorage must be at least 4096',
  ],
];
for (const [what, body, ...refusals] of wrong) test(`refused: ${what}`, () => expect(refusalsOf(body)).toEqual(refusals));

test("a type's own access levels may be named", () => {
  expect(refusalsOf({ name: 'T', properties: {}, accessLevels: { mine: { select: null } }, userAccessLevel: 'mine' })).toEqual([]);
});

test('names of Object.prototype are ordinary names', () => {
  const type = parseType({ name: 'T', properties: { constructor: string, toString: string }, indexes: [{ keys: ['constructor'] }] }, known);
  expect([...type.properties.keys()]).toEqual(['constructor', 'toString']);
  expect(refusalsOf({ ...withProperty(string), userAccessLevel: 'constructor' })).toEqual([
    'type.access.level.unknown T,userAccessLevel constructor',
  ]);
});

test('the store has an index for each declared one, for the shorthands, the natural key and the expiry', () => {
  const body = {
    ...silo,
    properties: { ...(silo.properties as ObjectValue), price: { type: 'Currency', indexed: true }, no: { type: 'Integer', unique: true } },
  };
  const type = parseType(
    {
      ...body,
      naturalKey: ['level', 'code'],
      indexes: [{ keys: ['-price.value', 'code'], options: { unique: true } }, { keys: ['#place'] }],
    },
    known,
  );
  expect(mongoIndexes(type)).toEqual([
    {
      name: 'unique:price.v:-1:Currency,code:1:String',
      key: { 'price.v': -1, code: 1 },
      unique: true,
      partialFilterExpression: { $or: [{ 'price.v': { $gte: Number.NEGATIVE_INFINITY } }, { code: { $gte: '' } }] },
    },
    { name: 'index:place:2dsphere', key: { place: '2dsphere' } },
    { name: 'index:price:1', key: { price: 1 } },
    { name: 'unique:no:1:Integer', key: { no: 1 }, unique: true, partialFilterExpression: { no: { $gte: Number.NEGATIVE_INFINITY } } },
    { name: 'index:level:1,code:1', key: { level: 1, code: 1 } },
    { name: 'expiry:2592000', key: { ars_createdAt: 1 }, expireAfterSeconds: 2_592_000 },
  ]);
});

test('a natural key that an index serves needs no other', () => {
  expect(mongoIndexes(parseType(silo, known)).map(({ name }) => name)).toEqual([
    'unique:code:1:String',
    'index:place:2dsphere',
    'expiry:2592000',
  ]);
});
