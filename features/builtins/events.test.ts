// Requests by service events, and the run's own data in Context (builtins.md 19, 22), by programs through an engine.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { evaluator } from './testing/value.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.ask('insert', 'services', {
    body: '{"name":"Calc","eventTypes":{"Double":{"direction":"INBOUND"},"Mute":{"direction":"INBOUND"}}}',
  });
});
afterAll(() => t[Symbol.asyncDispose]());

const value = evaluator(() => t);

test('a request waits for the first reply of the rule that its event starts', async () => {
  await t.type('Told', { first: { type: 'Boolean' }, second: { type: 'Boolean' } });
  await t.program(
    'rules',
    'RULE double WHEN EVENT OCCURS ON "/services/Calc/Double" AS e\nvar a = Event.reply({n: e.value.n * 2})\nvar b = Event.reply(0)\nINSERT Told(first: a, second: b)',
  );
  expect(await value('Event.request("Calc/Double", {n: 21}, 15000).n')).toBe(42);
  expect(await value('Event.request("/services/Calc/Double", {n: 1}).n')).toBe(2);
  const reported = await t.eventually('Told', {}, 2);
  expect(reported.map(({ first, second }) => [first, second])).toEqual([
    [true, false],
    [true, false],
  ]);
  await t.ask('publish', 'services', { id: 'Calc/Double', body: '{"n":3}' });
  expect((await t.eventually('Told', { first: false }, 1))[0]).toMatchObject({ second: false });
});

test('a rule that starts again because of a race has replied, and a request is published once', async () => {
  const count = 30;
  await t.type('Total', { key: { type: 'String' }, n: { type: 'Integer' } });
  await t.type('Asked', { n: { type: 'Integer' } });
  await t.type('ToldFirst', { ok: { type: 'Boolean' } });
  await t.ask('insert', 'Total', { body: '[{"key":"asker","n":0},{"key":"all","n":0}]' });
  await t.ask('insert', 'services', { body: '{"name":"Sum","eventTypes":{"Add":{"direction":"INBOUND"}}}' });
  // All count on the same row, by what they have read, so that all but one start again.
  const bump = (key: string) =>
    `var t = SELECT ONE FROM Total WHERE key == "${key}"\nUPDATE Total(n: Math.max(t.n + 1, toInteger(format("{0,number,0}", t.n + 1)))) WHERE key == "${key}"`;
  await t.program(
    'rules',
    `RULE sum WHEN EVENT OCCURS ON "/services/Sum/Add" AS e\nvar ok = Event.reply(e.value.n)\n${bump('all')}\nINSERT ToldFirst(ok: ok)`,
  );
  await t.program(
    'rules',
    `RULE asks WHEN INSERT OCCURS ON Asked AS a\nvar v = Event.request("Sum/Add", {n: a.n}, 60000)\n${bump('asker')}`,
  );
  const asked = Array.from({ length: count }, (_, n) => ({ n }));
  await t.ask('insert', 'Asked', { body: JSON.stringify(asked) });
  const rows = await t.eventually('ToldFirst', {}, count);
  expect(rows.filter(({ ok }) => ok !== true)).toEqual([]);
  expect(await t.eventually('Total', { n: count }, 2)).toHaveLength(2);
  expect(await t.rows('ToldFirst')).toHaveLength(count);
});

test('what a run keeps of its answers until it ends is bounded', async () => {
  await t.type('Asking', { times: { type: 'Integer' } });
  await t.ask('insert', 'services', { body: '{"name":"Long","eventTypes":{"Text":{"direction":"INBOUND"}}}' });
  const doubled = 'var s = "0123456789"\nFOR (i IN range(0, 19)) { s = s + s }';
  await t.program('rules', `RULE replies WHEN EVENT OCCURS ON "/services/Long/Text" AS e\n${doubled}\nEvent.reply(s)`);
  const asks = 'try { FOR (i IN range(0, a.times)) { Event.request("Long/Text", {}, 60000) } } catch (e) { log.error("caught") }';
  await t.program('rules', `RULE askMany WHEN INSERT OCCURS ON Asking AS a\n${asks}\nlog.info("through")`);
  const logged = async (times: number, level: string): Promise<unknown> => {
    await t.ask('insert', 'Asking', { body: JSON.stringify({ times }) });
    const [line] = await t.eventually('logs', { 'resource.resourceId': 'askMany', level }, 1);
    return line?.['message'];
  };
  expect(await logged(2, 'INFO')).toBe('through');
  expect(await logged(20, 'ERROR')).toMatch(/^cascade\.execution\.memory/);
});

test('a request without a reply ends at its timeout', async () => {
  await t.program('rules', 'RULE mute WHEN EVENT OCCURS ON "/services/Calc/Mute" AS e\nvar x = 1');
  expect(await value('Event.request("Calc/Mute", {}, 50)')).toBe('cascade.builtin.timeout ["Event.request",50]');
  expect(await value('Event.request("Calc/None", {})')).toBe('cascade.resource.not.found ["/services/Calc/None"]');
  expect(await value('Event.request("nothing", {})')).toBe('cascade.lang.range ["serviceEventName","nothing"]');
  expect(await value('[Event.reply(1), Event.isRedelivered(), Event.ack()]')).toEqual([false, false, null]);
});

test('Context names the user and the program of the run', async () => {
  const { namespace } = t.identity;
  const username = `may.${namespace}`;
  await t.engine.identity.createUser({
    username,
    password: 'correct horse',
    namespace,
    profiles: ['user', 'user__system'],
    createdBy: 'ann',
  });
  await t.program(
    'procedures',
    'PROCEDURE whoami()\nreturn [Context.username(), Context.preferredUsername(), Context.email(), Context.isEmailVerified()]',
  );
  const as = async (): Promise<unknown> =>
    JSON.parse(
      (
        await t.engine.execute({
          identity: { ...t.identity, username },
          op: 'execute',
          resourceName: 'procedures',
          custom: false,
          resourceId: 'whoami',
          object: [],
          parameters: {},
        })
      ).body ?? '',
    );
  expect(await as()).toEqual([username, username, null, null]);
  await t.ask('update', 'users', { id: username, body: '{"preferredUsername":"May","email":"may@example.org"}' });
  expect(await as()).toEqual([username, 'May', 'may@example.org', null]);
  expect(await value('Context.buildInfo().version.length() > 0')).toBe(true);
  expect(await value('Context.serverUri()')).toBe('');
});
