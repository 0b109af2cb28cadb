// spec: language.md P8
// spec: resources-and-api.md 7.4 7.6
// Procedures in a group and procedures with profiles of their own, called by different users from different programs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { Identity } from '../../resources/api.ts';

let t: TestEngine;
const people: Record<'kim' | 'max', Identity> = {} as never;

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  for (const name of ['kim', 'max'] as const) {
    const username = `${name}.${namespace}`;
    const profiles = ['user', 'user__system'];
    await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
    people[name] = { username, namespace, profiles, token: '000000000000000000000001' };
  }
  await t.ask('insert', 'groups', { body: JSON.stringify({ name: 'night', members: [people.kim.username] }) });
  await t.type('Secret', { n: { type: 'Integer' } }, { userAccessLevel: 'ars_denied' });
  await t.type('Told', { n: { type: 'Integer' }, by: { type: 'String' } }, { userAccessLevel: 'ars_readWrite' });
  for (const text of [
    'PROCEDURE grouped(n Integer) WITH ars_group = "night"\nreturn n + 1',
    'PROCEDURE byName()\nreturn grouped(41)',
    'PROCEDURE byStatement()\nvar x = EXECUTE PROCEDURE grouped(41)\nreturn x',
    'PROCEDURE caught()\nvar r = "called"\ntry { grouped(41) } catch (e) { r = e.code }\nreturn r',
    'PROCEDURE later()\nEXECUTE ASYNC PROCEDURE grouped(41)\nreturn 1',
    'PROCEDURE all()\nreturn EXECUTE * (41) WHERE name == "grouped"',
    'PROCEDURE lent() WITH profiles = ["admin", "user__system"]\nINSERT Secret(n: 1)\nvar k = 0\nfor (s in SELECT FROM Secret) { k = k + 1 }\nreturn k',
    'PROCEDURE callsLent()\nreturn lent()',
    'PROCEDURE afterLent()\nvar k = lent()\nfor (s in SELECT FROM Secret) { k = k + 1 }\nreturn k',
    'PROCEDURE less() WITH profiles = ["user", "user__system"]\nfor (s in SELECT FROM Secret) { return s.n }\nreturn 0',
    'PROCEDURE callsLess()\nreturn less()',
    'PROCEDURE rows() WITH profiles = ["user", "user__system"]\nreturn SELECT FROM Told',
    'PROCEDURE deep(n Integer) WITH profiles = ["user", "user__system"]\nreturn deep(n + 1)',
    'PROCEDURE deepest()\nreturn deep(1)',
  ])
    await t.program('procedures', text).catch((error: Error) => {
      throw new Error(`${text}\n${error.message}`);
    });
});
afterAll(() => t[Symbol.asyncDispose]());

async function called(identity: Identity, id: string): Promise<unknown> {
  const request = {
    identity,
    op: 'execute',
    resourceName: 'procedures',
    resourceId: id,
    custom: null,
    object: parseJson('[]'),
    parameters: {},
  };
  try {
    return JSON.parse((await t.engine.execute(request)).body ?? 'null');
  } catch (error) {
    return (error as { code: string }).code;
  }
}
const DENIED = 'cascade.authorization.denied';

test.each([
  ['byName', DENIED, 42],
  ['byStatement', DENIED, 42],
  ['all', [], [42]],
])('a procedure of a group can be called only for its members, whoever owns the calling code: %s', async (id, forOthers, forMembers) => {
  expect([await called(people.max, id), await called(people.kim, id)]).toEqual([forOthers, forMembers]);
});

test('a program can catch the refusal, and an admin is never refused', async () => {
  expect(await called(people.max, 'caught')).toBe(DENIED);
  expect(await called(people.kim, 'caught')).toBe('called');
  expect(await called(t.identity, 'byName')).toBe(42);
  expect(await called(people.max, 'later')).toBe(DENIED);
  expect(await called(people.kim, 'later')).toBe(1);
});

test('leaving a group takes effect at once', async () => {
  await t.ask('update', 'groups', { id: 'night', body: JSON.stringify({ members: [people.max.username] }) });
  expect(await called(people.kim, 'byName')).toBe(DENIED);
  expect(await called(people.max, 'byName')).toBe(42);
  await t.ask('update', 'groups', { id: 'night', body: JSON.stringify({ members: [people.kim.username] }) });
});

test('the profiles of a procedure replace the caller’s while it runs', async () => {
  expect(await called(people.max, 'callsLent')).toBe(1);
  expect(await called(people.max, 'afterLent')).toBe(DENIED);
  expect(await called(t.identity, 'callsLess')).toBe(DENIED);
});

test('a call by a rule has them, too, runs once per event, and its effects belong to the rule', async () => {
  await t.type('Cause', { n: { type: 'Integer' } }, { userAccessLevel: 'ars_readWrite' });
  await t.program(
    'procedures',
    'PROCEDURE note(n Integer) WITH profiles = ["user", "user__system"]\nINSERT Told(n: n, by: Context.username())\nreturn n * 2',
  );
  await t.program('rules', 'RULE notes WHEN INSERT OCCURS ON Cause AS c\nvar x = note(c.n)\nINSERT Told(n: x, by: "rule")');
  await t.ask('insert', 'Cause', { body: JSON.stringify([{ n: 1 }, { n: 2 }, { n: 3 }]) });
  const reported = await t.eventually('Told', {}, 6);
  expect(reported.map(({ n }) => n).sort()).toEqual([1, 2, 2, 3, 4, 6]);
});

test('a condition of a rule can call one, too', async () => {
  await t.type('Asked', { n: { type: 'Integer' } }, { userAccessLevel: 'ars_readWrite' });
  await t.program('procedures', 'PROCEDURE half(n Integer) WITH profiles = ["user", "user__system"]\nreturn n / 2');
  await t.program('rules', 'RULE halves WHEN INSERT OCCURS ON Asked AS a WHERE half(a.n) == 2\nINSERT Told(n: a.n, by: "half")');
  await t.ask('insert', 'Asked', { body: JSON.stringify([{ n: 2 }, { n: 4 }, { n: 6 }]) });
  expect((await t.eventually('Told', { by: 'half' }, 1)).map(({ n }) => n)).toEqual([4]);
});

test('calls of procedures with profiles of their own count for the limit of nested calls', async () => {
  expect(await called(t.identity, 'deepest')).toBe('cascade.execution.depth');
});

test('only members of its group see a procedure', async () => {
  const asked = (identity: Identity, rest: object) =>
    t.engine.execute({ identity, op: 'select', resourceName: 'procedures', custom: null, parameters: {}, ...rest });
  const names = async (identity: Identity) =>
    (JSON.parse((await asked(identity, {})).body ?? '[]') as { name: string }[]).map(({ name }) => name);
  expect(await names(people.kim)).toContain('grouped');
  expect(await names(people.max)).not.toContain('grouped');
  expect(await names(people.max)).toContain('byName');
  await expect(asked(people.max, { resourceId: 'grouped' })).rejects.toMatchObject({ status: 404 });
  expect((await asked(t.identity, { resourceId: 'grouped' })).status).toBe(200);
});
