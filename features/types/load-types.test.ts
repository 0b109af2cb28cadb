// Types as they are loaded when their namespace is opened: all that are stored are in force again.
import { expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

test('types that refer to each other, or to a type that has been deleted, are in force after the namespace is opened again', async () => {
  await using database = await openOwnDatabase();
  const { namespace } = await (async () => {
    await using first = await openTestEngine({ mongoUri: database.uri });
    await first.type('Branch', { n: { type: 'Integer' } });
    await first.type('Tree', { branch: { type: 'Branch' } });
    await change(first, 'Branch', { properties: { n: { type: 'Integer' }, tree: { type: 'Tree' } } });
    await first.ask('insert', 'Branch', { body: '{"n":1,"tree":{"branch":{"n":2}}}' });
    await first.type('Leaf', { n: { type: 'Integer' } });
    await first.type('Twig', { leaf: { type: 'Leaf' } });
    await first.ask('delete', 'types', { id: 'Leaf', custom: false });
    await first.ask('insert', 'Twig', { body: '{"leaf":{"n":1}}' });
    return first.identity;
  })();
  await using again = await openTestEngine({ mongoUri: database.uri, namespace });
  expect(await again.rows('Branch')).toMatchObject([{ n: 1, tree: { branch: { n: 2 } } }]);
  await expect(again.ask('insert', 'Branch', { body: '{"tree":{"branch":{"n":"x"}}}' })).rejects.toMatchObject({
    code: 'cascade.type.property.invalid',
  });
  expect(await again.rows('Twig')).toMatchObject([{ leaf: { n: 1 } }]);
  await again.type('Leaf', { n: { type: 'Integer' } });
  await expect(again.ask('insert', 'Twig', { body: '{"leaf":{"n":"x"}}' })).rejects.toMatchObject({
    code: 'cascade.type.property.invalid',
  });
});

test('a scalar can be changed, and a type renamed, although a type has a property of a deleted one', async () => {
  await using one = await openTestEngine();
  await one.ask('insert', 'scalars', { body: '{"name":"Percent","baseType":"Integer"}' });
  for (const name of ['Gone', 'Kept']) await one.type(name, { n: { type: 'Integer' } });
  await one.type('Holder', { gone: { type: 'Gone' }, kept: { type: 'Kept' }, percent: { type: 'Percent' } });
  await one.ask('delete', 'types', { id: 'Gone', custom: false });
  await one.ask('update', 'scalars', { id: 'Percent', body: '{"description":"of a hundred"}' });
  await one.ask('rename', 'types', { id: 'Kept', body: '{"newName":"Renamed"}', custom: false });
  await expect(one.ask('insert', 'Holder', { body: '{"kept":{"n":"x"}}' })).rejects.toMatchObject({
    code: 'cascade.type.property.invalid',
  });
  expect((await one.ask('insert', 'Holder', { body: '{"kept":{"n":1},"percent":2}' })).status).toBe(200);
});

const change = (engine: TestEngine, id: string, body: object) =>
  engine.ask('update', 'types', { id, body: JSON.stringify(body), custom: false });
