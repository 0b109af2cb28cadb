// `cascade why` and `cascade replay` as a user has them, against a real service: what they tell of rules that ran and that did not, and to whom.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cascade as command } from '../server/testing/fake-terminal.ts';
import { RestClient, type StartedService, startService } from './client/index.ts';

const PASSWORD = 'a-long-way-from-here';

let service: StartedService;
let client: RestClient;

const RULES = [
  'RULE tooFast WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 80 AND p.site == "north" log.info("fast")',
  'RULE plain WHEN INSERT OCCURS ON Pump AS p INSERT Alarm(text: "plain")',
  'RULE graded:A WHEN INSERT OCCURS ON Pump AS p log.info("all")',
  'RULE graded:B WHERE p.rate < 10 WHEN INSERT OCCURS ON Pump AS p log.info("slow")',
  'RULE asleep WHEN INSERT OCCURS ON Pump AS p log.info("never")',
  'RULE checked BEFORE INSERT ON Pump AS p  p.site = toLowerCase(p.site)',
  `RULE pair WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 1 BEFORE EVENT OCCURS ON "/topics/stop" AS s WITHIN 1 hour
   CONSTRAIN TO p.site == s.value.site
   log.info("stopped")`,
  `RULE breaks WHEN INSERT OCCURS ON Pump AS p WHERE p.site == "south"
var doubled = twice(p.rate)
INSERT Alarm(text: "before " + doubled)
SELECT ONE FROM Alarm AS none WHERE text == "nobody"
log.info(none.text)`,
];

beforeAll(async () => {
  service = await startService({ expects: [/cascade\.rule\.chain\.depth/] });
  client = new RestClient(service.url, 4);
  await client.login(service.user, service.password);
  await ok('/types', { name: 'Pump', properties: { rate: { type: 'Integer' }, site: { type: 'String' } } });
  await ok('/types', { name: 'Alarm', properties: { text: { type: 'String' } } });
  await ok('/procedures', 'PROCEDURE twice(x Integer)\nvar y = x * 2\nreturn y');
  for (const text of RULES) await ok('/rules', text);
  const asleep = await client.send('PATCH', '/rules/asleep', { body: [{ op: 'replace', path: '/active', value: false }] as never });
  expect(asleep.status, asleep.text).toBe(200);
  await ok('/users', { username: 'bob', password: PASSWORD });
  await ok('/namespaces', { namespace: 'other', organization: { name: 'other' }, username: 'otto', password: PASSWORD });
});
afterAll(async () => {
  client.close();
  await service[Symbol.asyncDispose]();
});

async function ok(path: string, body: object | string): Promise<string> {
  const reply = await client.send('POST', path, typeof body === 'string' ? { text: body } : { body: body as never });
  expect(reply.status, reply.text).toBe(200);
  return reply.text;
}

/** The command, with its exit code and all that it says. */
async function cascade(
  args: readonly string[],
  as = { user: service.user, password: service.password },
): Promise<{ code: number; said: string }> {
  const { code, out, err } = await command([...args, '--url', service.url, '--user', as.user, '--password', as.password]);
  return { code, said: out + err };
}

/** The uuid of the event on which the rule failed, and the invocation. */
async function failure(): Promise<{ invocation: string; uuid: string }> {
  for (;;) {
    const found = JSON.parse((await client.send('GET', '/ArsRuleSnapshot')).text) as { resource: string; invocationId: string }[];
    const invocation = found.find(({ resource }) => JSON.stringify(resource).includes('breaks'))?.invocationId;
    if (invocation !== undefined) {
      const kept = await client.send('POST', `/rules/${invocation}`, { body: { op: 'recording' } as never });
      return { invocation, uuid: (JSON.parse(kept.text) as { event: { uuid: string } }).event.uuid };
    }
    await sleep(50);
  }
}

test('of an event that is made up each rule on its path is told of, with the term that decided and its values', async () => {
  const { code, said } = await cascade(['why', '--path', '/types/Pump/insert', '--value', '{"rate": 90, "site": "south"}']);
  expect(said.split('\n')).toEqual([
    '/types/Pump/insert {"rate":90,"site":"south"}',
    'BEFORE checked runs',
    'tooFast does not run: its WHERE is false',
    '    site == "north", and site is "south"',
    'plain runs',
    'graded:A runs',
    'graded:B does not run: its RULE WHERE is false',
    '    rate < 10, and rate is 90',
    'breaks runs',
    'asleep is not active',
    'pair waits for further events',
    '',
  ]);
  expect(code).toBe(0);
  const slow = await cascade(['why', '--path', '/types/Pump/insert', '--value', '{"rate": 1, "site": "x"}', '--json']);
  const rules = (JSON.parse(slow.said) as { rules: { rule: string; outcome: string }[] }).rules;
  expect(Object.fromEntries(rules.map(({ rule, outcome }) => [rule, outcome]))).toMatchObject({
    'graded:A': 'version',
    'graded:B': 'runs',
    pair: 'condition',
    breaks: 'condition',
  });
  const one = await cascade(['why', '--rule', 'pair', '--path', '/topics/elsewhere', '--value', '1']);
  expect(one.said).toBe('/topics/elsewhere 1\npair listens on another path\n');
});

// spec: resources-and-api.md 1.4
test('an integer beyond those that a JavaScript number holds is asked about, and shown, with all its digits', async () => {
  const asked = ['why', '--path', '/types/Pump/insert', '--value', '{"rate": 9007199254740993, "site": "x"}'];
  const { said } = await cascade(asked);
  expect(said).toContain('/types/Pump/insert {"rate":9007199254740993,"site":"x"}\n');
  expect(said).toContain('graded:B does not run: its RULE WHERE is false\n    rate < 10, and rate is 9007199254740993\n');
  expect((await cascade([...asked, '--json'])).said).toContain('"left": 9007199254740993');
});

test('a run that failed is repeated to the same end, line by line; of its event is told which window it opened, and that it closed', async () => {
  await ok('/custom/Pump', { rate: 21, site: 'SOUTH' });
  const { invocation, uuid } = await failure();
  for (const run of [invocation, uuid]) {
    const { code, said } = await cascade(['replay', run]);
    for (const line of ['doubled = 42', 'twice   2  var y = x * 2', 'insert {', 'none = null', 'cascade.lang.null', 'as it was recorded'])
      expect(said).toContain(line);
    expect(code).toBe(0);
  }
  expect(JSON.parse((await client.send('GET', '/custom/Alarm')).text)).toHaveLength(2); // by the run itself and by another rule; none by a replay
  const open = await cascade(['why', uuid, '--rule', 'pair']);
  expect(open.said).toMatch(new RegExp(`^pair waits for further events\n    until \\d{4}-.*, with ${uuid}$`, 'm'));
  await ok('/topics//stop', { site: 'south' });
  for (;;) {
    const { said } = await cascade(['why', uuid, '--rule', 'pair']);
    if (said.includes('pair waits for nothing more')) break;
  }
  await ok('/rules', `${RULES.at(-1)}\nlog.info("replaced")`);
  const { code, said } = await cascade(['replay', invocation]);
  expect([code, said]).toEqual([0, expect.stringContaining('as it was recorded')]);
});

test('of what decides besides conditions is told, too: a type without events, a pipeline, a chain that is too long, a younger rule', async () => {
  await ok('/types', { name: 'Silent', rulesSuppressed: true, properties: { n: { type: 'Integer' } } });
  await ok('/rules', 'RULE unheard WHEN INSERT OCCURS ON Silent AS s log.info("never")');
  const silent = await cascade(['why', '--path', '/types/Silent/insert', '--value', '{"n": 1}']);
  expect(silent.said).toContain('unheard does not run: the type raises no events (rulesSuppressed)\n');

  await ok('/rules', 'RULE cleaned WHEN EVENT OCCURS ON "/sources/Line/publish" AS m return m.value');
  await ok('/sources', {
    name: 'Line',
    type: 'MQTT',
    direction: 'SOURCE',
    mockMode: true,
    pipelineRules: ['cleaned'],
    config: { serverURIs: ['tcp://localhost:1883'], topic: 'line' },
  });
  const piped = await cascade(['why', '--path', '/sources/Line/publish', '--value', '1']);
  expect(piped.said).toContain('cleaned does not run by this event: it is in the pipeline of the source\n');

  await ok('/types', { name: 'Loop', properties: { n: { type: 'Integer' } } });
  await ok('/rules', 'RULE round WHEN INSERT OCCURS ON Loop AS l INSERT Loop(n: l.n + 1)');
  await ok('/custom/Loop', { n: 1 });
  let letter: { event: { uuid: string } } | undefined;
  while (!letter) {
    await sleep(50);
    letter = (JSON.parse((await client.send('GET', '/deadletters')).text) as (typeof letter)[])[0];
  }
  await ok('/rules', 'RULE younger WHEN INSERT OCCURS ON Loop AS l log.info("later")');
  const { said } = await cascade(['why', letter.event.uuid]);
  expect(said).toContain('round was given up: its chain of events is too long\n');
  expect(said).toMatch(/^younger runs\n    as it is since \d{4}-.*, which is after the event$/m);
});

test('neither is for those who may not administer the namespace', async () => {
  const { invocation, uuid } = await failure();
  const asks = [
    ['why', uuid],
    ['why', '--path', '/types/Pump/insert', '--value', '{}'],
    ['replay', invocation],
  ];
  for (const args of asks) {
    const { code, said } = await cascade(args, { user: 'bob', password: PASSWORD });
    expect([code, said]).toEqual([2, expect.stringContaining('cascade.')]);
    expect(said).not.toContain('south');
  }
  for (const args of [
    ['why', uuid],
    ['replay', invocation],
    ['why', '--rule', 'plain', '--path', '/types/Pump/insert'],
  ]) {
    const { code, said } = await cascade(args, { user: 'otto', password: PASSWORD });
    expect([code, said]).toEqual([2, expect.stringContaining('cascade.resource.not.found')]);
  }
});

test('a traced rule whose last effect ends its run is recorded and repeated like any other', async () => {
  await ok('/debugconfigs', { name: 'traced', type: 'trace', value: 'enabled', resources: ['/rules/traced'] });
  await ok('/rules', 'RULE traced WHEN EVENT OCCURS ON "/topics/traced" AS e INSERT Alarm(text: e.uuid)');
  const { length } = JSON.parse((await client.send('GET', '/custom/Alarm')).text) as unknown[];
  await ok('/topics//traced', { n: 1 });
  let uuid: string | undefined;
  for (; uuid === undefined; await sleep(20)) {
    const alarms = JSON.parse((await client.send('GET', '/custom/Alarm')).text) as { text: string }[];
    uuid = alarms[length]?.text;
  }
  let replayed = await cascade(['replay', uuid]);
  for (; replayed.code !== 0; replayed = await cascade(['replay', uuid])) await sleep(50); // it is kept a moment after its effect
  for (const line of ['insert {', uuid, 'as it was recorded']) expect(replayed.said).toContain(line);
  expect(JSON.parse((await client.send('GET', '/custom/Alarm')).text)).toHaveLength(length + 1);
});
