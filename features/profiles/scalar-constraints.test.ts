// spec: resources-and-api.md 4.2 7.2 7.6 8.4
// Constraints on properties of user scalars: reads, events and rules are held to the same stored values, whatever the scalar shows.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { ApiReply, Identity, Notice } from '../../resources/api.ts';

let t: TestEngine;
let clerk: Identity;

const as = (identity: Identity, op: string, resourceName: string, asked: { id?: string; body?: object; text?: string } = {}) => {
  const { id, body, text } = asked;
  return t.engine.execute({
    identity,
    op,
    resourceName,
    custom: null,
    parameters: {},
    ...(id !== undefined && { resourceId: id }),
    ...(body !== undefined && { object: parseJson(JSON.stringify(body)) }),
    ...(text !== undefined && { text }),
  });
};
const parsed = (reply: ApiReply) => JSON.parse(reply.body ?? 'null') as Record<string, unknown>[];
/** The clerk sees what the condition on `level` allows. */
const grant = (select: object) => {
  const all = { select, insert: {}, update: {}, delete: {} };
  return as(t.identity, 'update', 'profiles', {
    id: 'clerk',
    body: { dml: { Glass: all, Passed: { insert: {} } }, invoke: ['createRule', 'updateRule'] },
  });
};
const pour = async (level: string): Promise<string> =>
  String(parsed(await as(t.identity, 'insert', 'Glass', { body: { level } }))[0]?.['_id']);
const levelOf = (notice: Notice) => (notice.kind === 'event' ? (JSON.parse(notice.valueJson) as { level: string }).level : notice.kind);

async function listen(path: string, persistent = false): Promise<{ levels: string[]; close: () => void }> {
  const levels: string[] = [];
  const options = persistent ? { persistent } : {};
  const listener = await t.engine.subscribe(clerk, path, options, (notice) => void levels.push(levelOf(notice)));
  await listener.begin?.();
  return { levels, close: () => listener.close() };
}

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  await t.program('procedures', 'PROCEDURE parsePercent(v)\nreturn toInteger(replace(toString(v), "%", ""))');
  await t.program('procedures', 'PROCEDURE showPercent(v)\nreturn toString(v) + "%"');
  const percent = { name: 'Percent', baseType: 'Integer', toInternal: 'parsePercent', toExternal: 'showPercent' };
  await as(t.identity, 'insert', 'scalars', { body: percent });
  await t.type('Glass', { level: { type: 'Percent' }, note: { type: 'String' } });
  await t.type('Passed', { level: { type: 'String' }, how: { type: 'String' } });
  await as(t.identity, 'insert', 'profiles', { body: { name: 'clerk', dml: {} } });
  const username = `clerk.${namespace}`;
  const profiles = ['clerk', 'user__system'];
  await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
  clerk = { username, namespace, profiles, token: '000000000000000000000001' };
});
afterAll(() => t[Symbol.asyncDispose]());

test('subscribers get the events of the instances that they may read, and no others', async () => {
  await grant({ level: { ars_substitution_ne: 3 } });
  const listeners = [await listen('/types/Glass/insert'), await listen('/types/Glass/insert', true)];
  for (const level of ['3%', '4%']) await pour(level);
  await grant({ level: { ars_substitution_lt: 50 } });
  for (const level of ['60%', '7%']) await pour(level);
  await pour('8%');
  expect(parsed(await as(clerk, 'select', 'Glass')).map(({ level }) => level)).toEqual(['3%', '4%', '7%', '8%']);
  for (const { levels, close } of listeners) {
    await expect.poll(() => levels.at(-1)).toBe('8%');
    expect(levels).toEqual(['4%', '7%', '8%']);
    close();
  }
});

test('the same holds of updates and deletions, one by one and by condition, and of long instances', async () => {
  await grant({ level: { ars_substitution_nin: [3] } });
  const [updated, deleted, inserted] = [
    await listen('/types/Glass/update'),
    await listen('/types/Glass/delete'),
    await listen('/types/Glass/insert'),
  ];
  const note = 'x'.repeat(300_000);
  for (const level of ['3%', '5%']) {
    const [one] = parsed(await as(t.identity, 'insert', 'Glass', { body: { level, note } }));
    await as(t.identity, 'update', 'Glass', { id: String(one?.['_id']), body: { note: 'y' } });
    await as(t.identity, 'delete', 'Glass', { id: String(one?.['_id']) });
    await pour(level);
    await t.ask('delete', 'Glass', { parameters: { where: JSON.stringify({ level }) } });
  }
  await expect.poll(() => deleted.levels.length).toBe(2);
  expect([inserted.levels, updated.levels, deleted.levels]).toEqual([['5%', '5%'], ['5%'], ['5%', '5%']]);
  for (const { close } of [updated, deleted, inserted]) close();
});

test('rules run on the events that their editors may see, one event or several', async () => {
  await grant({ level: { ars_substitution_ne: 3 } });
  await as(clerk, 'insert', 'rules', { text: 'RULE one WHEN INSERT OCCURS ON Glass AS g INSERT Passed(level: g.level, how: "one")' });
  await as(clerk, 'insert', 'rules', {
    text: 'RULE pair WHEN INSERT OCCURS ON Glass AS a BEFORE INSERT OCCURS ON Glass AS b WITHIN 1 hour INSERT Passed(level: a.level + b.level, how: "pair")',
  });
  for (const level of ['20%', '3%', '21%']) await pour(level);
  await t.eventually('Passed', { how: 'pair' }, 1);
  await t.eventually('Passed', { how: 'one' }, 2);
  expect((await t.rows('Passed')).map(({ level }) => level).sort()).toEqual(['20%', '20%21%', '21%']);
  const outcomeOf = async (level: string) =>
    (
      JSON.parse(
        (
          await t.ask('why', 'rules', {
            id: 'one',
            body: JSON.stringify({ path: '/types/Glass/insert', value: { _id: 'x', level } }),
            custom: false,
          })
        ).body ?? '',
      ) as { rules: { outcome: string }[] }
    ).rules[0]?.outcome;
  expect([await outcomeOf('3%'), await outcomeOf('4%')]).toEqual(['noRight', 'runs']);
  for (const id of ['one', 'pair']) await as(t.identity, 'delete', 'rules', { id });
});

test('BEFORE rules take part in the changes of instances that their editors may change, also behind other rules', async () => {
  await as(t.identity, 'insert', 'rules', {
    text: 'RULE aFirst BEFORE INSERT ON Glass AS g WHERE g.note == "raise" g.level = "70%"  RETURN g',
  });
  await grant({ level: { ars_substitution_lt: 50 } });
  await as(clerk, 'insert', 'rules', { text: 'RULE bSecond BEFORE INSERT ON Glass AS g g.note = "touched"  RETURN g' });
  const noteOf = async (body: object) => parsed(await as(t.identity, 'insert', 'Glass', { body }))[0]?.['note'];
  expect(await noteOf({ level: '7%', note: 'low' })).toBe('touched');
  expect(await noteOf({ level: '70%', note: 'high' })).toBe('high');
  expect(await noteOf({ level: '7%', note: 'raise' })).toBe('raise');
  for (const id of ['aFirst', 'bSecond']) await as(t.identity, 'delete', 'rules', { id });
});

test('a dead letter is retried with the stored values of its event', async () => {
  await grant({ level: { ars_substitution_gt: 90 } });
  const endless = 'RULE late WHEN INSERT OCCURS ON Glass AS g INSERT Glass(level: "95%")'; // its chain becomes too long
  await as(clerk, 'insert', 'rules', { text: endless });
  await pour('95%');
  const [letter] = await t.eventually('ArsDeadLetter', {}, 1, 30_000);
  await as(clerk, 'update', 'rules', {
    id: 'late',
    text: 'RULE late WHEN INSERT OCCURS ON Glass AS g INSERT Passed(level: g.level, how: "late")',
  });
  await t.ask('retry', 'deadletters', { id: String(letter?.['_id']), custom: false });
  expect(await t.eventually('Passed', { how: 'late', level: '95%' }, 1)).toHaveLength(1);
});

test('constants of constraints are in the external form, as in every condition, and are shown as they were given', async () => {
  await t.program(
    'procedures',
    'PROCEDURE parseCode(v)\nif (v == "bad") { exception("code.bad", "{0} is bad", [v]) }\nreturn toUpperCase(v)',
  );
  await t.program('procedures', 'PROCEDURE parseKelvin(v)\nreturn v + 273');
  await as(t.identity, 'insert', 'scalars', { body: { name: 'Code', baseType: 'String', toInternal: 'parseCode' } });
  await as(t.identity, 'insert', 'scalars', { body: { name: 'Kelvin', baseType: 'Integer', toConstraint: 'parseKelvin' } });
  const granted = (dml: object) => as(t.identity, 'update', 'profiles', { id: 'clerk', body: { dml } });
  const north = { site: { ars_substitution_ne: 'north' } };
  await granted({ Site: { select: north }, '*': { select: { degrees: { ars_substitution_in: [10, 20] } } } }); // both types come later
  await t.type('Site', { site: { type: 'Code' }, level: { type: 'Percent' }, degrees: { type: 'Kelvin' } });
  await t.type('Cold', { degrees: { type: 'Kelvin' } });
  for (const [site, level] of [
    ['north', '7%'],
    ['south', '60%'],
    ['west', '8%'],
  ])
    await as(t.identity, 'insert', 'Site', { body: { site, level, degrees: 283 } });
  await as(t.identity, 'insert', 'Cold', { body: { degrees: 283 } });
  await as(t.identity, 'insert', 'Cold', { body: { degrees: 10 } });
  const sites = async () => parsed(await as(clerk, 'select', 'Site')).map(({ site }) => site);
  expect(await sites()).toEqual(['SOUTH', 'WEST']);
  expect(parsed(await as(clerk, 'select', 'Cold')).map(({ degrees }) => degrees)).toEqual([283]);
  await granted({ Site: { select: { $or: [{ level: { $lt: '50%' } }, { site: { $in: ['south'] } }], site: { $nin: ['west'] } } } });
  expect(await sites()).toEqual(['NORTH', 'SOUTH']);
  const shown = parsed(await as(t.identity, 'selectOne', 'profiles', { id: 'clerk' })) as unknown as { dml: object };
  expect(JSON.stringify(shown.dml)).toContain('{"ars_substitution_lt":"50%"}');
  const refused = (reason: unknown) => ({
    code: 'cascade.profile.constraint.invalid',
    status: 400,
    params: ['profiles', 'dml.Site.select', ...[reason].flat()],
  });
  await expect(granted({ Site: { select: { site: 'bad' } } })).rejects.toMatchObject(refused(['bad is bad', 'code.bad']));
  await expect(granted({ Site: { select: { degrees: 'x' } } })).rejects.toMatchObject(
    refused([expect.any(String), 'cascade.query.operand.invalid']),
  );
  const own = { site: { ars_substitution: 'ars_username' } };
  await expect(granted({ Site: { select: own } })).rejects.toMatchObject(refused([expect.stringContaining('substitution'), null]));
});

test('what a comparator would decide grants nothing, however it comes to a constraint', async () => {
  const all = (select: object) => as(t.identity, 'update', 'profiles', { id: 'clerk', body: { dml: { '*': { select } } } });
  const shirts = async () => parsed(await as(clerk, 'select', 'Shirt')).map(({ size }) => size);
  const scalar = (body: object) => as(t.identity, 'insert', 'scalars', { body: { name: 'Size', baseType: 'String', ...body } });
  const denied = { code: 'cascade.authorization.denied', status: 403 };
  await t.program('procedures', 'PROCEDURE byLength(a, b)\nreturn a.length - b.length');
  await scalar({});
  await t.type('Shirt', { size: { type: 'Size' }, fit: { type: 'String' } });
  for (const [size, fit] of [
    ['M', 'wide'],
    ['XL', 'slim'],
  ])
    await as(t.identity, 'insert', 'Shirt', { body: { size, fit } });
  await as(t.identity, 'update', 'profiles', { id: 'clerk', body: { dml: { Shirt: { select: { size: { $lt: 'N' } } } } } });
  expect(await shirts()).toEqual(['M']);
  await scalar({ comparator: 'byLength' });
  await expect(shirts()).rejects.toMatchObject(denied);
  const conditions = [
    { size: 'M' },
    { size: { $ne: 'M' } },
    { size: { $nin: ['M', null] } },
    { $nor: [{ size: 'M' }] },
    { $or: [{ size: { $not: { $gt: 'M' } } }, { fit: 'slim' }] },
  ];
  for (const select of conditions) {
    await expect(as(t.identity, 'update', 'profiles', { id: 'clerk', body: { dml: { Shirt: { select } } } })).rejects.toMatchObject({
      code: 'cascade.profile.constraint.invalid',
      params: ['profiles', 'dml.Shirt.select', expect.stringContaining('comparator'), null],
    });
    await all(select);
    if ('$or' in select) expect(await shirts()).toEqual(['XL']);
    else await expect(shirts()).rejects.toMatchObject(denied);
  }
  await all({ size: { $nin: [null] } });
  expect(await shirts()).toEqual(['M', 'XL']);
});

test('what a constant means follows the procedure, and the rules of editors too', async () => {
  await as(t.identity, 'update', 'profiles', {
    id: 'clerk',
    body: { dml: { Site: { select: { site: 'north' } }, Passed: { insert: {} } } },
  });
  const sites = async () => parsed(await as(clerk, 'select', 'Site')).map(({ site }) => site);
  expect(await sites()).toEqual(['NORTH']);
  await as(clerk, 'insert', 'rules', { text: 'RULE ofNorth WHEN INSERT OCCURS ON Site AS s INSERT Passed(level: s.site, how: "north")' });
  for (const site of ['east', 'north']) await as(t.identity, 'insert', 'Site', { body: { site } });
  await t.eventually('Passed', { how: 'north' }, 1);
  await t.program('procedures', 'PROCEDURE parseCode(v)\nreturn v == "north" ? "SOUTH" : toUpperCase(v)');
  await expect.poll(sites).toEqual(['SOUTH']);
});

test('constants of a profile that comes with its scalar and type are known when the import is answered', async () => {
  const files = {
    'scalars/Place.json': { name: 'Place', baseType: 'String', toInternal: 'Places.parse' },
    'types/Visit.json': { name: 'Visit', properties: { place: { type: 'Place' } } },
    'profiles/clerk.json': { name: 'clerk', dml: { Visit: { select: { place: 'north' } } } },
    'procedures/Places_parse.procedure': 'PROCEDURE Places.parse(v)\nreturn toUpperCase(v)',
  };
  await t.ask('import', 'projects', { id: '*', body: JSON.stringify({ files }) });
  for (const place of ['north', 'south']) await as(t.identity, 'insert', 'Visit', { body: { place } });
  expect(parsed(await as(clerk, 'select', 'Visit'))).toMatchObject([{ place: 'NORTH' }]);
});

test('a constant that an import changes means something at once: who listens goes on', async () => {
  const imported = (select: object, more: object = {}) => {
    const files = { 'profiles/clerk.json': { name: 'clerk', dml: { Glass: { select } } }, ...more };
    return t.ask('import', 'projects', { id: '*', body: JSON.stringify({ files }) });
  };
  await imported({ level: { $lt: '41%' } });
  const listeners = [await listen('/types/Glass/insert'), await listen('/types/Glass/insert', true)];
  for (const most of [42, 43]) await imported({ level: { $lt: `${most}%` } });
  const parse = 'PROCEDURE parsePercent(v)\n// the same again\nreturn toInteger(replace(toString(v), "%", ""))';
  await imported({ level: { $lt: '44%' } }, { 'procedures/parsePercent.procedure': parse });
  for (const level of ['44%', '43%']) await pour(level);
  for (const { levels, close } of listeners) {
    await expect.poll(() => levels.at(-1)).toBe('43%');
    expect(levels).toEqual(['43%']);
    close();
  }
});

test('the constants are known again after a restart', async () => {
  await using database = await openOwnDatabase();
  const first = await openTestEngine({ mongoUri: database.uri, exclusive: true });
  const { namespace } = first.identity;
  await first.program('procedures', 'PROCEDURE parseCode(v)\nreturn toUpperCase(v)');
  await first.ask('insert', 'scalars', { body: '{"name":"Code","baseType":"String","toInternal":"parseCode"}', custom: false });
  const levels = { adminAccessLevel: 'ofNorth', accessLevels: { ofNorth: { select: { site: 'north' }, insert: {} } } };
  await first.type('Site', { site: { type: 'Code' } }, levels);
  await first.ask('insert', 'Site', { body: '[{"site":"north"},{"site":"south"}]' });
  expect(await first.rows('Site')).toMatchObject([{ site: 'NORTH' }]);
  await first[Symbol.asyncDispose]();
  await using second = await openTestEngine({ mongoUri: database.uri, exclusive: true, namespace });
  expect(await second.rows('Site')).toMatchObject([{ site: 'NORTH' }]);
});
