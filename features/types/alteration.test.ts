// Changes of types while they have instances and are written to.
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { instancesIn } from '../../engine/testing/stored.ts';

let t: TestEngine;
let client: MongoClient;
beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  t = await openTestEngine();
});
afterAll(async () => {
  isClosing = true;
  await client.close();
  await t[Symbol.asyncDispose]();
});
const db = () => client.db(`cascade_ns_${t.identity.namespace}`);
const put = (type: string, body: string) => t.ask('insert', type, { body });
const change = (type: string, body: object) => t.ask('update', 'types', { id: type, body: JSON.stringify(body), custom: false });

/** Stops all writers, also after a failed test. */
let isClosing = false;

/** Inserts instances one after the other until it is stopped; counts the stored ones, and collects the error codes of others. */
function writing(type: string, body: (n: number) => string) {
  let isOver = false;
  const codes = new Map<string, number>();
  let stored = 0;
  const one = async (from: number): Promise<void> => {
    for (let n = from; !isOver && !isClosing; n += 4) {
      try {
        await put(type, body(n));
        stored++;
      } catch (error) {
        const { code } = error as { code: string };
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    }
  };
  const all = Promise.all([0, 1, 2, 3].map(one));
  return {
    get stored() {
      return stored;
    },
    async stop() {
      isOver = true;
      await all;
      return { stored, codes: [...codes.keys()] };
    },
  };
}
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (const end = performance.now() + 60_000; !(await isSo()); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (performance.now() > end) throw new Error('it did not come to be');
};

test('an index is built during writes, and the definition does not wait for it', async () => {
  await t.type('Grown', { n: { type: 'Integer' }, s: { type: 'String' } });
  await t.program('rules', 'RULE heard WHEN INSERT OCCURS ON Grown AS g WHERE g.n < 0 log.info("never")');
  const grown = await instancesIn(db(), 'Grown');
  await grown.insertMany(Array.from({ length: 20_000 }, (_, n) => ({ n, s: `s${n}`, ars_version: 1 })));
  const writes = writing('Grown', (n) => `{"n":${n},"s":"w${n}"}`);
  await until(() => writes.stored > 20);
  await change('Grown', { indexes: [{ keys: ['n', '-s'] }, { keys: ['s'] }] });
  const before = writes.stored;
  await until(() => writes.stored > before + 20);
  const names = async () => (await grown.indexes()).map(({ name }) => name);
  await until(async () => (await names()).length === 3);
  const { stored, codes } = await writes.stop();
  expect(codes).toEqual([]);
  expect(await grown.countDocuments()).toBe(20_000 + stored);
  await until(async () => (await db().collection('indexBuilds').countDocuments()) === 0);
});

test('a unique index is built during writes, and is in force when the change is answered', async () => {
  await t.type('Sole', { n: { type: 'Integer' } });
  const sole = await instancesIn(db(), 'Sole');
  await sole.insertMany(Array.from({ length: 20_000 }, (_, n) => ({ n: -1 - n, ars_version: 1 })));
  const writes = writing('Sole', (n) => `{"n":${n}}`);
  await until(() => writes.stored > 20);
  for (let round = 0; round < 3; round++) {
    await change('Sole', { indexes: [{ keys: ['n'], options: { unique: true } }] });
    await expect(put('Sole', '{"n":-1}')).rejects.toMatchObject({ code: 'cascade.resource.duplicate.key' });
    await change('Sole', { indexes: [] });
    await until(async () => (await sole.indexes()).length === 1);
  }
  const { stored, codes } = await writes.stop();
  expect(codes).toEqual([]);
  expect(await sole.countDocuments()).toBe(20_000 + stored);
});

test('instances that are written while a type is renamed have the new name', async () => {
  await t.type('Old', { n: { type: 'Integer' } });
  const writes = writing('Old', (n) => `{"n":${n}}`);
  await until(() => writes.stored > 20);
  await t.ask('rename', 'types', { id: 'Old', body: '{"newName":"New"}', custom: false });
  const { stored, codes } = await writes.stop();
  expect(codes.filter((code) => code !== 'cascade.resource.type.not.found')).toEqual([]);
  expect(await (await instancesIn(db(), 'New')).countDocuments()).toBe(stored);
});

test('a deleted type leaves no instances, even during writes', async () => {
  await t.type('Gone', { n: { type: 'Integer' } });
  const writes = writing('Gone', (n) => `{"n":${n}}`);
  await until(() => writes.stored > 20);
  await t.ask('delete', 'types', { id: 'Gone', custom: false });
  const { codes } = await writes.stop();
  expect(codes.filter((code) => code !== 'cascade.resource.type.not.found')).toEqual([]);
  await t.type('Gone', { n: { type: 'Integer' } });
  expect(await t.rows('Gone')).toEqual([]);
});

test('a type whose property changes its kind has no values of the old kind', async () => {
  await t.type('Turned', { n: { type: 'Integer' } });
  for (let round = 0; round < 5; round++) {
    await t.ask('delete', 'Turned', { parameters: { where: '{}' } });
    const writes = writing('Turned', (n) => `{"n":${n}}`);
    const changed = await change('Turned', { properties: { n: { type: round % 2 ? 'Integer' : 'String' } } }).then(
      () => true,
      (error: { code: string }) => (expect(error.code).toBe('cascade.type.change.incompatible'), false),
    );
    const { codes } = await writes.stop();
    expect(codes.filter((code) => code !== 'cascade.type.change.incompatible')).toEqual([]);
    const [type] = (await t.rows('types', { name: 'Turned' })) as [{ properties: { n: { type: string } } }];
    const wanted = type.properties.n.type === 'String' ? 'string' : 'number';
    for (const row of await t.rows('Turned')) expect(typeof row['n']).toBe(wanted);
    if (!changed) await t.ask('delete', 'Turned', { parameters: { where: '{}' } });
  }
  // Each change may be refused, since an instance of the old kind came first; without instances none is.
  await t.ask('delete', 'Turned', { parameters: { where: '{}' } });
  for (const [type, body, wrong] of [
    ['Integer', '{"n":1}', '{"n":"x"}'],
    ['String', '{"n":"x"}', '{"n":[]}'],
  ] as const) {
    await change('Turned', { properties: { n: { type } } });
    await put('Turned', body);
    await expect(put('Turned', wrong)).rejects.toMatchObject({ code: 'cascade.type.property.invalid' });
    expect((await t.rows('Turned')).map(({ n }) => n)).toEqual([type === 'Integer' ? 1 : 'x']);
    await t.ask('delete', 'Turned', { parameters: { where: '{}' } });
  }
});

test('a removed property stays removed, and an added one changes no stored instance', async () => {
  await t.type('Cut', { keep: { type: 'String' }, drop: { type: 'String' } });
  await put('Cut', '{"keep":"k","drop":"d"}');
  await change('Cut', { properties: { keep: { type: 'String' } } });
  expect((await t.rows('Cut'))[0]).not.toHaveProperty('drop');
  expect(await t.rows('Cut', { drop: 'd' })).toEqual([]);
  await change('Cut', {
    properties: { keep: { type: 'String' }, drop: { type: 'String', default: 'new' }, more: { type: 'String', required: true } },
  });
  expect((await t.rows('Cut'))[0]).not.toHaveProperty('drop');
  const [{ _id }] = (await t.rows('Cut')) as [{ _id: string }];
  await t.ask('update', 'Cut', { id: _id, body: '{"keep":"l"}' });
  await expect(t.ask('update', 'Cut', { id: _id, body: '{"more":null}' })).rejects.toMatchObject({
    code: 'cascade.type.property.required',
  });
});

test('a unique index that instances violate is refused, and the definition is unchanged', async () => {
  await t.type('Twice', { n: { type: 'Integer' } });
  await put('Twice', '[{"n":1},{"n":1}]');
  await expect(change('Twice', { indexes: [{ keys: ['n'], options: { unique: true } }] })).rejects.toMatchObject({
    code: 'cascade.type.index.duplicate',
    status: 409,
    params: ['Twice', 'n'],
  });
  expect((await t.rows('types', { name: 'Twice' }))[0]).toMatchObject({ indexes: [] });
  await put('Twice', '{"n":1}');
});
