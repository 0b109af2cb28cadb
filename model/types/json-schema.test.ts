import { expect, test } from 'vitest';
import type { ScalarDefinition } from './definition.ts';
import { typeToSchema } from './json-schema.ts';
import { parseType } from './parse-type.ts';

const known = { types: new Map(), scalars: new Map() };

test('a schema has the external form of each property, null where it is not required', () => {
  const type = parseType(
    {
      name: 'Silo',
      description: 'a silo',
      properties: {
        code: { type: 'String', required: true, maxLength: 12 },
        level: { type: 'Decimal', scale: 2, default: '0' },
        alarms: { type: 'String', multi: true, description: 'since yesterday' },
      },
    },
    known,
  );
  expect(typeToSchema(type)).toMatchObject({
    title: 'Silo',
    description: 'a silo',
    type: 'object',
    required: ['code'],
    additionalProperties: false,
    properties: {
      code: { type: 'string', maxLength: 12 },
      level: { type: ['string', 'null'], default: '0' },
      alarms: { type: ['array', 'null'], items: { type: 'string' }, description: 'since yesterday' },
    },
  });
});

test('a property of another type shows the properties of that type', () => {
  const types = new Map();
  types.set('Slot', parseType({ name: 'Slot', properties: { n: { type: 'Integer', required: true } } }, known));
  const shelf = parseType({ name: 'Shelf', properties: { slots: { type: 'Slot', multi: true, required: true } } }, { ...known, types });
  expect(typeToSchema(shelf)['properties']).toMatchObject({
    slots: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } },
  });
});

test('a type that holds itself ends somewhere', () => {
  const types = new Map();
  const type = parseType({ name: 'Node', properties: { next: { type: 'Node' } } }, { ...known, types });
  types.set('Node', type);
  expect(JSON.stringify(typeToSchema(type)).length).toBeLessThan(10_000);
});

test('what a scalar shows of its values may be anything', () => {
  const scalars = new Map<string, ScalarDefinition>([
    ['Percent', { name: 'Percent', baseType: 'Integer', toExternal: 'show' }],
    ['Short', { name: 'Short', baseType: 'String', maxLength: 3 }],
  ]);
  const properties = {
    p: { type: 'Percent', required: true },
    all: { type: 'Percent', multi: true, required: true },
    s: { type: 'Short', required: true },
  };
  const schema = typeToSchema(parseType({ name: 'Glass', properties }, { types: new Map(), scalars }));
  expect(schema['properties']).toEqual({ p: {}, all: { type: 'array', items: {} }, s: { type: 'string', maxLength: 3 } });
});

test('a property of the service’s own types that holds any value is not bound to Objects', () => {
  const type = parseType({ name: 'Setting', properties: { value: { type: 'Object', required: true } } }, known, { system: true });
  const value = type.properties.get('value');
  if (!value) throw new Error('the property is missing');
  const open = { ...type, properties: new Map([['value', { ...value, anything: true as const }]]) };
  expect(typeToSchema(type)['properties']).toEqual({ value: { type: 'object' } });
  expect(typeToSchema(open)['properties']).toEqual({ value: {} });
});
