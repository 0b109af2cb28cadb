// Changes of one instance at the same time whose BEFORE rules do something besides: each is done once, and only for what happens (language.md O1, O7).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CascadeError } from '../../stdlib/errors.ts';
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
  await t.type('Barrel', { n: { type: 'Integer' } });
  await t.type('Let', { of: { type: 'String' }, n: { type: 'Integer' } });
  await t.program('rules', 'RULE goes BEFORE DELETE ON Barrel AS b  INSERT Let(of: "delete", n: b.n)');
  await t.program('rules', 'RULE stays BEFORE UPDATE ON Barrel AS b  INSERT Let(of: "update", n: b.n)');
  await t.type(
    'Mug',
    { k: { type: 'String' }, n: { type: 'Integer' } },
    { naturalKey: ['k'], indexes: [{ keys: ['k'], options: { unique: true } }] },
  );
  await t.program('rules', 'RULE comes BEFORE INSERT ON Mug AS m  INSERT Let(of: "insert", n: m.n)');
  await t.program('procedures', 'PROCEDURE putMug(n) return UPSERT Mug(k: "one", n: n)');
  await t.type('Shelf', { n: { type: 'Integer' } });
  for (let n = 0; n < 5; n++)
    await t.program('rules', `RULE ended${n} WHEN EVENT OCCURS ON "/topics/turns/end" DELETE Barrel WHERE n == event.value`);
  for (const text of [other('Left', 'Right'), other('Right', 'Left')]) await t.program('rules', text);
  await t.program('procedures', 'PROCEDURE dropBarrel(id) return DELETE Barrel WHERE _id == id');
  await t.program('procedures', 'PROCEDURE dropBarrels() return DELETE Barrel WHERE n >= 0');
  await t.program('procedures', 'PROCEDURE fillBarrels(n) return UPDATE Barrel(n: n) WHERE n >= 0');
  await t.program('procedures', 'PROCEDURE fillCask(n) UPDATE Cask(n: n) WHERE n >= 0');
});
afterAll(() => t[Symbol.asyncDispose]());

const made = async (type: string): Promise<string> => {
  const { body } = await t.ask('insert', type, { body: '{"n":0}' });
  const [{ _id: id }] = [JSON.parse(body ?? '')].flat() as [{ _id: string }];
  return id;
};
const all = async (type: string): Promise<{ n: number; ars_version: number }[]> => JSON.parse((await t.ask('select', type)).body ?? '');
const many = <T>(work: (n: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: AT_ONCE }, (_, n) => work(n)));

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

/** What the rules of barrels have done, and forgets it. */
async function taken(): Promise<string[]> {
  const found: { of: string; n: number }[] = JSON.parse((await t.ask('select', 'Let')).body ?? '');
  await t.ask('delete', 'Let', { parameters: { where: '{}' } });
  return found.map(({ of, n }) => `${of} ${n}`).sort();
}

test('the rules of a deletion run once for what is deleted once, whoever else deletes or changes it', async () => {
  const id = await made('Barrel');
  const outcomes = await many((n) =>
    (n % 2 ? t.ask('delete', 'Barrel', { id }) : t.ask('execute', 'procedures', { id: 'dropBarrel', body: `["${id}"]` })).then(
      () => 'deleted',
      (error: CascadeError) => error.code,
    ),
  );
  expect(outcomes.filter((one) => one !== 'cascade.resource.not.found')).toEqual(['deleted']);
  expect(await taken()).toEqual(['delete 0']);
  for (let n = 0; n < 3; n++) await t.ask('insert', 'Barrel', { body: `{"n":${n}}` });
  const counts = await many<number>(async () =>
    JSON.parse((await t.ask('execute', 'procedures', { id: 'dropBarrels', body: '[]' })).body ?? ''),
  );
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(await taken()).toEqual(['delete 0', 'delete 1', 'delete 2']);
});

test('the rules of a change of several run once for each, whoever else changes them', async () => {
  const ids = [await made('Barrel'), await made('Barrel'), await made('Barrel')];
  const counts = await many<number>(async (n) =>
    JSON.parse((await t.ask('execute', 'procedures', { id: 'fillBarrels', body: `[${n}]` })).body ?? ''),
  );
  expect(counts).toEqual(Array.from({ length: AT_ONCE }, () => 3));
  await many((n) => t.ask('update', 'Barrel', { id: ids[n % 3] as string, body: `{"n":${n}}` }));
  expect((await taken()).length).toBe(4 * AT_ONCE);
  await t.ask('delete', 'Barrel', { parameters: { where: '{}' } });
  expect((await taken()).length).toBe(ids.length);
});

test('of several upserts of a new key the rules of insertions run for the one that inserts', async () => {
  await many((n) =>
    n % 2 ? t.ask('upsert', 'Mug', { body: `{"k":"one","n":7}` }) : t.ask('execute', 'procedures', { id: 'putMug', body: '[7]' }),
  );
  expect((await all('Mug')).map((one) => one.ars_version)).toEqual([AT_ONCE]);
  expect(await taken()).toEqual(['insert 7']);
});

test('the rules of what is deleted along with an instance run once, however many delete that', async () => {
  const id = await made('Shelf');
  await t.ask('insert', 'Barrel', { body: `{"n":4,"ars_dependentResource":"/Shelf/${id}"}` });
  await many((n) =>
    n % 2 ? t.ask('delete', 'Shelf', { id }).catch(() => null) : t.ask('delete', 'Shelf', { parameters: { where: '{"n":0}' } }),
  );
  expect(await all('Barrel')).toEqual([]);
  expect(await taken()).toEqual(['delete 4']);
});

test('rules that delete the same instance take turns, too', async () => {
  for (const n of [1, 2, 3]) await t.ask('insert', 'Barrel', { body: `{"n":${n}}` });
  await Promise.all([1, 2, 3].map((n) => t.ask('publish', 'topics', { id: '/turns/end', body: String(n) })));
  await t.eventually('Barrel', {}, 0);
  await t.engine.settled();
  expect(await taken()).toEqual(['delete 1', 'delete 2', 'delete 3']);
});
