// spec: resources-and-api.md 4.9 4.12 7.6
// spec: language.md P8
// What programs and limited tokens make stays in their namespace: the user that they act for may be at home, and have rights, in others.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Identity } from '../../resources/api.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';

const PASSWORD = 'correct horse';
const DENIED = { code: 'cascade.authorization.denied', status: 403 };
const ESCALATION = { code: 'cascade.profile.escalation', status: 403 };
const mark = randomBytes(4).toString('hex');
const HOME = `Home_${mark}`;
const FOREIGN = `Foreign_${mark}`;
const ANN = `ann.${mark}`;
const ADMIN = ['admin', 'user__system'];
const FIRST: Identity = { username: `first${mark}`, namespace: `Makers_${mark}`, profiles: ADMIN, installationAdmin: true };

let t: TestEngine;
/** The admin of the foreign namespace; ann there, and at home. */
let [eve, visiting, atHome]: Identity[] = [];

beforeAll(async () => {
  t = await openTestEngine();
  await as(FIRST, 'insert', 'namespaces', { body: { namespace: HOME, username: ANN, password: PASSWORD } });
  await as(FIRST, 'insert', 'namespaces', { body: { namespace: FOREIGN, username: `eve.${mark}`, password: PASSWORD } });
  [eve, atHome] = await Promise.all([login(`eve.${mark}`), login(ANN)]);
  await as(eve, 'authorizeUser', 'namespaces', { id: FOREIGN, body: { username: ANN, profiles: ADMIN } });
  visiting = await login(ANN, FOREIGN);
});
afterAll(() => t[Symbol.asyncDispose]());

async function as(
  identity: Identity,
  op: string,
  resourceName: string,
  { id, body, text }: { id?: string; body?: unknown; text?: string } = {},
) {
  const reply = await t.engine.execute({
    identity,
    op,
    resourceName,
    custom: false,
    ...(id !== undefined && { resourceId: id }),
    ...(body !== undefined && { object: parseJson(JSON.stringify(body)) }),
    ...(text !== undefined && { text }),
    parameters: {},
    address: '10.0.0.1',
  });
  return JSON.parse(reply.body ?? 'null') as Record<string, unknown>;
}

const login = async (username: string, target?: string): Promise<Identity> =>
  (await t.engine.identity.login(username, PASSWORD, '10.0.0.1', target)).identity;

let programs = 0;
/** Calls a procedure with this body, written by `author`. */
async function called(author: Identity, caller: Identity, body: string, more = ''): Promise<unknown> {
  const id = `bound${programs++}`;
  await as(author, 'insert', 'procedures', { text: `PROCEDURE ${id}()${more}\n${body}` });
  return as(caller, 'execute', 'procedures', { id, body: [] });
}

test('a token that a program makes is for the namespace of the program only', async () => {
  for (const [name, body] of [
    [`statement${mark}`, `var t = INSERT system.tokens(name: "statement${mark}")`],
    [`api${mark}`, `var t = ResourceAPI.executeOp({op: "insert", resourceName: "system.tokens", object: {name: "api${mark}"}})[0]`],
  ] as const) {
    const token = String(await called(eve!, visiting!, `${body}\nreturn t.accessToken`));
    expect(await as(visiting!, 'selectOne', 'tokens', { id: name })).toMatchObject({ singleNamespace: true });
    expect(await t.engine.identity.verify(token, FOREIGN)).toMatchObject({ username: ANN, namespace: FOREIGN });
    const elsewhere = t.engine.identity.verify(token, HOME);
    await expect(elsewhere).rejects.toMatchObject({ code: 'cascade.namespace.not.authorized' });
  }
});

test('a procedure with profiles of its own makes no token with all the rights of its caller', async () => {
  const body = `INSERT system.tokens(name: "lent${mark}")\nreturn 1`;
  const lending = ' WITH profiles = ["admin", "user__system"]';
  await expect(called(eve!, visiting!, body, lending)).rejects.toMatchObject(ESCALATION);
  const { accessToken } = await as(atHome!, 'insert', 'tokens', { body: { name: `less${mark}`, profiles: ['user'] } });
  const less = await t.engine.identity.verify(String(accessToken));
  await expect(called(atHome!, less!, body, lending)).rejects.toMatchObject(ESCALATION);
});

test('a program changes the account of its user at home only', async () => {
  const body = (name: string) => `UPDATE system.users(firstName: "${name}") WHERE username == "${ANN}"\nreturn 1`;
  await expect(called(eve!, visiting!, body('Eve'))).rejects.toMatchObject(DENIED);
  await called(atHome!, atHome!, body('Ann'));
  expect(await as(atHome!, 'selectOne', 'users', { id: ANN })).toMatchObject({ firstName: 'Ann' });
});

test('a token for one namespace only makes others for this one only, and joins no namespace', async () => {
  const { accessToken } = await as(atHome!, 'insert', 'tokens', { body: { name: `here${mark}`, singleNamespace: true } });
  const session = await t.engine.identity.loginWithToken(String(accessToken));
  const here = [await t.engine.identity.verify(String(accessToken)), session.identity];
  for (const [n, caller] of here.entries()) {
    const made = await as(caller!, 'insert', 'tokens', { body: { name: `everywhere${mark}${n}` } });
    expect(made).toMatchObject({ singleNamespace: true });
    const elsewhere = t.engine.identity.verify(String(made['accessToken']), FOREIGN);
    await expect(elsewhere).rejects.toMatchObject({ code: 'cascade.namespace.not.authorized' });
    // Refused before the code is looked at: any other caller is told that there is none.
    await expect(as(caller!, 'redeem', 'delegatedrequests', { id: 'csi_any' })).rejects.toMatchObject(DENIED);
  }
});
