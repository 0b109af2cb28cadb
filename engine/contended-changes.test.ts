// Many changes of one definition, or one document, at once: each has its turn, and none is overwritten by one that was worked out before it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from './testing/engine.ts';

// spec: resources-and-api.md 2.5, 2.6, 2.8, 4.1

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

const MANY = 30;
const atOnce = <Done>(one: (n: number) => Promise<Done>): Promise<Done[]> => Promise.all(Array.from({ length: MANY }, (_, n) => one(n)));

test('each patch of a definition applies to what the others have left', async () => {
  await t.ask('insert', 'profiles', { body: JSON.stringify({ name: 'shared', dml: {} }) });
  await atOnce((n) =>
    t.ask('patch', 'profiles', { id: 'shared', body: JSON.stringify({ op: 'add', path: `/dml/T${n}`, value: { select: {} } }) }),
  );
  const [stored] = (await t.rows('profiles', { name: 'shared' })) as { dml: object; ars_version: number }[];
  expect(Object.keys(stored?.dml ?? {})).toHaveLength(MANY);
  expect(stored?.ars_version).toBe(MANY + 1);
});

test('each patch of a user applies to what the others have left', async () => {
  const username = `patched.${Date.now().toString(36)}`;
  await t.ask('insert', 'users', { body: JSON.stringify({ username, password: 'correct horse', ars_properties: {} }) });
  const patch = (n: number) => JSON.stringify({ op: 'add', path: `/ars_properties/k${n}`, value: n });
  await atOnce((n) => t.ask('patch', 'users', { id: username, body: patch(n) }));
  const [stored] = (await t.rows('users', { username })) as { ars_properties: object }[];
  expect(Object.keys(stored?.ars_properties ?? {})).toHaveLength(MANY);
});

test('a definition is made once and changed by all others that insert it', async () => {
  await atOnce((n) => t.ask('insert', 'topics', { body: JSON.stringify({ name: '/shared', description: `${n}` }) }));
  await atOnce((n) => t.program('rules', `RULE shared\nWHEN PUBLISH OCCURS ON "/topics/shared" AS e\nLOG("${n}")`));
  for (const [resource, where] of [
    ['topics', { name: '/shared' }],
    ['rules', { name: 'shared' }],
  ] as const)
    expect(await t.rows(resource, where)).toMatchObject([{ ars_version: MANY }]);
});

test('uploads of one name follow one another', async () => {
  const parts = async function* (text: string) {
    const bytes = async function* () {
      yield Buffer.from(text);
    };
    yield { name: 'shared.txt', fileType: null, bytes: bytes() };
  };
  const upload = (n: number) => ({ kind: 'upload' as const, parts: parts(`${n}`), limitBytes: 100 });
  const request = { identity: t.identity, op: 'insert', resourceName: 'documents', custom: false, parameters: { count: true } };
  const replies = await atOnce((n) => t.engine.execute({ ...request, transfer: upload(n) }));
  expect(new Set(replies.map(({ status, count }) => `${status} ${count}`))).toEqual(new Set(['200 1']));
  expect(await t.rows('documents', { name: 'shared.txt' })).toMatchObject([{ ars_version: MANY }]);
});

test('who expects a version that is no longer the present one is told the present one, or that the instance is gone', async () => {
  await t.type('Versioned', { n: { type: 'Integer' } });
  const codes = new Set<string>();
  for (let round = 0; round < 5; round++) {
    const [{ _id: id }] = JSON.parse((await t.ask('insert', 'Versioned', { body: '{"n":0}' })).body ?? '') as [{ _id: string }];
    const change = (n: number) => t.ask('update', 'Versioned', { id, body: JSON.stringify({ n, ars_version: 1 }) });
    const results = await Promise.allSettled([change(1), change(2)]);
    const [lost] = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as { code: string; params: unknown[] }] : []));
    expect(lost).toMatchObject({ code: 'cascade.update.authorization.or.version.conflict', params: [`/Versioned/${id}`, 1n, 2n] });
    const second = t.ask('update', 'Versioned', { id, body: JSON.stringify({ n: 3, ars_version: 2 }) });
    await Promise.all([t.ask('delete', 'Versioned', { id }), second.catch((error: { code: string }) => codes.add(error.code))]);
  }
  codes.delete('cascade.resource.not.found');
  expect([...codes]).toEqual([]);
});

test('types are renamed at the same time as others that are held by the same type, and one of them gets a name', async () => {
  const rename = (id: string, newName: string) => t.ask('rename', 'types', { id, body: JSON.stringify({ newName }), custom: false });
  const names = ['Left', 'Right', 'Middle'];
  for (const name of names) await t.type(name, { n: { type: 'Integer' } });
  await t.type('Holding', Object.fromEntries(names.map((name) => [name.toLowerCase(), { type: name }])));
  await Promise.all(names.map((name) => rename(name, `${name}Renamed`)));
  const [holding] = (await t.rows('types', { name: 'Holding' })) as { properties: Record<string, { type: string }>; ars_version: number }[];
  expect(Object.values(holding?.properties ?? {}).map(({ type }) => type)).toEqual(names.map((name) => `${name}Renamed`));
  expect(holding?.ars_version).toBe(1 + names.length);
  const results = await Promise.allSettled(names.map((name) => rename(`${name}Renamed`, 'Shared')));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'cascade.resource.duplicate.key', status: 409 });
});
