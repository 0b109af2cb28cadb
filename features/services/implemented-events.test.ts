// spec: resources-and-api.md 4.5 7.4 8.4
// Which events a service passes on as its own: those that whoever stored it may see, though everybody hears the service's.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { Identity, Notice } from '../../resources/api.ts';

let t: TestEngine;
let kim: Identity;
let received: string[] = [];

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  for (const name of ['Pay', 'Shift']) await t.type(name, { n: { type: 'Integer' } });
  const dev = { name: 'dev', dml: { Shift: { select: {} } }, invoke: ['createService', 'updateService'] };
  await t.ask('insert', 'profiles', { body: JSON.stringify(dev) });
  const username = `kim.${namespace}`;
  const profiles = ['dev', 'user__system'];
  await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
  kim = { username, namespace, profiles, token: '000000000000000000000001' };
});
afterAll(() => t[Symbol.asyncDispose]());

const as = (identity: Identity, op: string, id: string, object: object) =>
  t.engine.execute({
    identity,
    op,
    resourceName: 'services',
    custom: false,
    ...(op !== 'insert' && { resourceId: id }),
    object: parseJson(JSON.stringify({ name: id, ...object })),
    parameters: {},
  });
const following = (path: string) => ({ eventTypes: { seen: { direction: 'OUTBOUND', implementingEventPath: path } } });

const listen = (service: string) =>
  t.engine.subscribe(kim, `/services/${service}/seen`, {}, (notice: Notice) => {
    if (notice.kind === 'event') received.push(notice.valueJson);
  });

/** What is heard of inserts, which are delivered before they are answered. */
async function inserted(type: string, n: number): Promise<number[]> {
  received = [];
  await t.ask('insert', type, { body: JSON.stringify({ n }), custom: true });
  return received.map((json) => (JSON.parse(json) as { n: number }).n);
}

test('a service does not follow a path whose events its editor may not see', async () => {
  const denied = { code: 'cascade.authorization.denied', status: 403 };
  for (const path of ['/types/Pay/insert', '/types/ArsPayloadMessage/update'])
    await expect(as(kim, 'insert', 'Spy', following(path))).rejects.toMatchObject(denied);
  await as(t.identity, 'insert', 'Books', following('/types/Pay/insert'));
  await listen('Books');
  expect(await inserted('Pay', 1)).toEqual([1]);
  await expect(as(kim, 'update', 'Books', { description: 'mine' })).rejects.toMatchObject(denied);
  expect(await inserted('Pay', 2)).toEqual([2]);
});

test('it passes on nothing that its editor has lost the right to, or while there is no editor', async () => {
  await as(kim, 'insert', 'Shifts', following('/types/Shift/insert'));
  await as(kim, 'insert', 'Later', following('/types/Later/insert'));
  for (const service of ['Shifts', 'Later']) await listen(service);
  expect(await inserted('Shift', 1)).toEqual([1]);
  await t.type('Later', { n: { type: 'Integer' } });
  expect(await inserted('Later', 1)).toEqual([]);
  const grant = (dml: object) => t.ask('update', 'profiles', { id: 'dev', body: JSON.stringify({ dml }) });
  await grant({});
  expect(await inserted('Shift', 2)).toEqual([]);
  await grant({ Shift: { select: { n: 3 } } });
  expect(await inserted('Shift', 2)).toEqual([]);
  expect(await inserted('Shift', 3)).toEqual([3]);
  await grant({ Shift: { select: {} } });
  await t.engine.identity.changeUser(kim.username, { active: false });
  // The rights from before count while they are read anew.
  await expect.poll(() => inserted('Shift', 4)).toEqual([]);
});
