// Changes of one instance at the same time whose BEFORE rules do something besides: each is done once (language.md O1).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

const AT_ONCE = 20;

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('Done', { n: { type: 'Integer' } });
  for (const name of ['Cask', 'Left', 'Right']) await t.type(name, { n: { type: 'Integer' }, by: { type: 'String' } });
  await t.program('rules', 'RULE counted BEFORE UPDATE ON Cask AS c  INSERT Done(n: c.n)  c.by = "the rule"');
  const other = (own: string, its: string): string =>
    `RULE of${own} BEFORE UPDATE ON ${own} AS one WHERE one.by != "other"  UPDATE ${its}(by: "other") WHERE {}  one.by = "own"`;
  for (const text of [other('Left', 'Right'), other('Right', 'Left')]) await t.program('rules', text);
  await t.program('procedures', 'PROCEDURE fillCask(n) UPDATE Cask(n: n) WHERE n >= 0');
});
afterAll(() => t[Symbol.asyncDispose]());

const made = async (type: string): Promise<string> => {
  const { body } = await t.ask('insert', type, { body: '{"n":0}' });
  const [{ _id: id }] = [JSON.parse(body ?? '')].flat() as [{ _id: string }];
  return id;
};
const all = async (type: string): Promise<{ n: number; ars_version: number }[]> => JSON.parse((await t.ask('select', type)).body ?? '');
const many = (work: (n: number) => Promise<unknown>): Promise<unknown> => Promise.all(Array.from({ length: AT_ONCE }, (_, n) => work(n)));

test('what a BEFORE rule does besides is done once for each change, whoever changes the instance meanwhile', async () => {
  const id = await made('Cask');
  await many((n) => t.ask('update', 'Cask', { id, body: `{"n":${n}}` }));
  await many((n) => t.ask('execute', 'procedures', { id: 'fillCask', body: `[${n}]` }));
  expect((await all('Cask')).map((one) => one.ars_version)).toEqual([1 + 2 * AT_ONCE]);
  const done = (await all('Done')).map((one) => one.n);
  expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 2 * AT_ONCE }, (_, place) => place >> 1));
});

test('changes whose rules change what the other has its turn for do not wait for each other', async () => {
  const [left, right] = [await made('Left'), await made('Right')];
  await many((n) => t.ask('update', n % 2 ? 'Left' : 'Right', { id: n % 2 ? left : right, body: `{"n":${n},"by":null}` }));
  for (const type of ['Left', 'Right']) expect((await all(type)).map((one) => one.n % 2)).toEqual([type === 'Left' ? 1 : 0]);
});
