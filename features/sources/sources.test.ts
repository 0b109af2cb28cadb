// Guarantees for every source, tested through the engine with an MQTT broker in this process (integrations.md 1.2 to 1.8).
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { type MqttBroker, openMqttBroker } from './protocols/mqtt/testing/mqtt-broker.ts';

let t: TestEngine;
let broker: MqttBroker;
beforeAll(async () => {
  broker = await openMqttBroker();
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
  await t.type('Got', { from: { type: 'String' }, json: { type: 'String' }, topic: { type: 'String' }, extra: { type: 'String' } });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

async function source(name: string, config: object, more: object = {}): Promise<void> {
  const body = { name, type: 'MQTT', config: { serverURI: `mqtt://127.0.0.1:${broker.port}`, ...config }, ...more };
  await t.ask('insert', 'sources', { body: JSON.stringify(body) });
}
const status = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse((await t.ask('status', 'sources', { id: name })).body ?? '');
const isIn = (name: string, state: string) => expect.poll(async () => (await status(name))['state']).toBe(state);
const send = (topic: string, payload: string | Buffer, qos: 0 | 1 = 1): Promise<void> =>
  new Promise((resolve, reject) =>
    broker.aedes.publish({ cmd: 'publish', topic, payload, qos, retain: false, dup: false }, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
const rows = (from: string, count: number) => t.eventually('Got', { from }, count);
const ruleOf = (name: string): Promise<void> =>
  t.program(
    'rules',
    `RULE of_${name} WHEN EVENT OCCURS ON "/sources/${name}" AS e INSERT Got(from: "${name}", json: stringify(e.value), topic: e.topic, extra: stringify(e.properties))`,
  );

// spec: integrations.md 1.6/1-6
test.each<[string, string, string | Buffer, unknown]>([
  ['json', 'application/json', '{"n":9007199254740993}', '{"n":9007199254740993}'],
  ['json2', 'application/vnd.x+json; charset=utf-8', '[1,null]', '[1,null]'],
  ['empty', 'application/json', '', 'null'],
  ['xml', 'text/xml', '<a><b c="1">x</b></a>', '{"b":{"@c":"1","#text":"x"}}'],
  ['xml2', 'application/atom+xml', '<a>1</a>', '"1"'],
  ['csv', 'text/csv', 'a,b\r\n1,"x ""y"""\r\n2', '[{"a":"1","b":"x \\"y\\""},{"a":"2","b":null}]'],
  ['text', 'text/plain', 'plain', '"plain"'],
  ['latin', 'text/plain; charset=iso-8859-1', Buffer.from([0xfc]), '"ü"'],
  ['none', 'text/plain', '', '""'],
  ['form', 'application/x-www-form-urlencoded', 'a=1&b=x+y&a=2', '{"a":["1","2"],"b":"x y"}'],
  ['bytes', 'application/octet-stream', Buffer.from([1, 2, 255]), '{"contentType":"application/octet-stream","size":3,"base64":"AQL/"}'],
  ['nothing', 'image/png', '', '{"contentType":"image/png","size":0,"base64":""}'],
])('content: %s', async (name, contentType, payload, json) => {
  await ruleOf(name);
  await source(name, { topics: [`c/${name}`], contentType });
  await isIn(name, 'connected');
  await send(`c/${name}`, payload);
  const [row] = await rows(name, 1);
  expect(row).toMatchObject({ json, topic: `c/${name}` });
  expect(JSON.parse(String(row?.['extra']))).toEqual({ qos: 1, retain: false, dup: false });
  await t.ask('delete', 'sources', { id: name });
});

// spec: integrations.md 1.6/1-3 3.1/15
test('a message that cannot become an event is dropped, logged with its first bytes, and acknowledged', async () => {
  await ruleOf('dropping');
  await source('dropping', { topics: ['d/#'], maxMessageSize: 20 });
  await isIn('dropping', 'connected');
  await send('d/1', '{"half":');
  await send('d/2', 'x'.repeat(21));
  await send('d/3', '[1]');
  await rows('dropping', 1);
  await expect.poll(() => status('dropping')).toMatchObject({ received: 3, dropped: 2, failed: 0 });
  const messages = (await t.rows('logs', { invocationId: 'dropping' })).map(({ message }) => String(message));
  expect(messages.find((one) => one.includes('malformed'))).toContain('{"half":');
  expect(messages.some((one) => one.includes('too.large'))).toBe(true);
});

// spec: integrations.md 1.2/1-5 3.1/10
test('the state of a source follows its life cycle', async () => {
  await source('living', { topics: ['l'] });
  await isIn('living', 'connected');
  await t.ask('insert', 'sources', { body: '{"name":"living","active":false}' });
  expect(await status('living')).toMatchObject({ state: 'inactive', health: 'inactive', nextAttemptAt: null });
  await expect(t.ask('publish', 'sources', { id: 'living', body: '{"topic":"a","message":1}' })).rejects.toMatchObject({
    code: 'cascade.source.inactive',
  });
  await t.ask('insert', 'sources', { body: '{"name":"living","active":true,"mockMode":true}' });
  expect(await status('living')).toMatchObject({ state: 'mocked', health: 'healthy', mockMode: true });
  await t.ask('insert', 'sources', { body: '{"name":"living","mockMode":false}' });
  await isIn('living', 'connected');
  broker.cut();
  await isIn('living', 'error');
  expect(await status('living')).toMatchObject({
    health: 'unhealthy',
    attempts: 1,
    isUnavailable: false,
    nextAttemptAt: expect.any(String),
  });
  broker.open();
  await isIn('living', 'connected');
  expect(await status('living')).toMatchObject({ attempts: 0, nextAttemptAt: null, error: null });
  await source('once', { automaticReconnect: false });
  await isIn('once', 'connected');
  broker.cut();
  await isIn('once', 'error');
  broker.open();
  expect(await status('once')).toMatchObject({ nextAttemptAt: null });
  await t.ask('delete', 'sources', { id: 'living' });
  await expect(status('living')).rejects.toMatchObject({ code: 'cascade.resource.not.found' });
});

// spec: integrations.md 1.4/1-3 1.5/1-3
test('a request is checked in the order unknown, inactive, direction, content', async () => {
  const nowhere = { serverURI: 'mqtt://127.0.0.1:1' };
  for (const direction of ['SOURCE', 'SINK', 'BOTH']) await source(`dir${direction}`, nowhere, { direction });
  await source('dirOff', nowhere, { active: false, direction: 'SOURCE' });
  const refused = (id: string, body: string, op = 'publish') =>
    t.ask(op, 'sources', { id, body }).then(
      () => null,
      (error: { code: string; status: number }) => [error.code, error.status],
    );
  expect(await refused('nobody', '1')).toEqual(['cascade.resource.not.found', 404]);
  expect(await refused('dirOff', '1')).toEqual(['cascade.source.inactive', 400]);
  expect(await refused('dirSOURCE', '1')).toEqual(['cascade.source.direction', 400]);
  expect(await refused('dirBOTH', '1')).toEqual(['cascade.request.body.invalid', 400]);
  expect(await refused('dirBOTH', '{}')).toEqual(['cascade.mqtt.topic.missing', 400]);
  expect(await refused('dirSINK', '{"topic":"a/#","message":1}')).toEqual(['cascade.mqtt.topic.invalid', 400]);
  expect(await refused('dirSINK', '{}', 'query')).toEqual(['cascade.source.direction', 400]);
  for (const id of ['dirSOURCE', 'dirBOTH']) expect(await refused(id, '{}', 'query')).toEqual(['cascade.source.query.unsupported', 400]);
  for (const id of ['dirSOURCE', 'dirSINK', 'dirBOTH']) await t.ask('delete', 'sources', { id });
});

// spec: integrations.md 1.4/1
test('a SINK does not subscribe', async () => {
  await source('sink', { topics: ['only/sent'] }, { direction: 'SINK' });
  await isIn('sink', 'connected');
  await ruleOf('hearing');
  await source('hearing', { topics: ['only/sent'] });
  await isIn('hearing', 'connected');
  await t.ask('publish', 'sources', { id: 'sink', body: '{"topic":"only/sent","message":1,"qos":1}' });
  await rows('hearing', 1);
  expect(await status('sink')).toMatchObject({ received: 0, published: 1, consumers: [] });
});

// spec: integrations.md 1.7/1-2 1.1/9
test('each rule gets its own copy of the message or the event; arrays are unwound', async () => {
  await t.program('rules', 'RULE seesOne WHEN MESSAGE ARRIVES FROM seen AS m\nm.n = m.n + 1\nINSERT Got(from: "one", json: stringify(m))');
  await t.program('rules', 'RULE seesTwo WHEN MESSAGE ARRIVES FROM seen INSERT Got(from: "two", json: stringify(seen))');
  await t.program(
    'rules',
    'RULE seesPath WHEN EVENT OCCURS ON "/sources/seen/publish" INSERT Got(from: "path", json: stringify(event.value), topic: event.path)',
  );
  await source('seen', { topics: ['s'] }, { autoUnwind: true });
  await isIn('seen', 'connected');
  await send('s', '[{"n":1},{"n":2}]');
  await send('s', '[]');
  expect((await rows('one', 2)).map(({ json }) => json).sort()).toEqual(['{"n":2}', '{"n":3}']);
  expect((await rows('two', 2)).map(({ json }) => json).sort()).toEqual(['{"n":1}', '{"n":2}']);
  expect((await rows('path', 2)).every(({ topic }) => topic === '/sources/seen/publish')).toBe(true);
  expect(await status('seen')).toMatchObject({ received: 2, dropped: 0 });
});

// spec: integrations.md 1.6 1.8
test('a source whose pipeline lacks a rule is audited and logged as in error, whatever its connection is, and as connected when it has it', async () => {
  const audits = async (name: string) => (await t.rows('audits', { entity: `/sources/${name}` })).map(({ op }) => op);
  const logs = async (name: string) => (await t.rows('logs', { invocationId: name })).map(({ message }) => String(message));
  const remote = { type: 'REMOTE', config: { uri: 'https://nowhere.invalid' } };
  for (const [name, more] of [
    ['lacking', {}],
    ['lackingSink', { direction: 'SINK' }],
    ['lackingStill', remote],
  ] as const) {
    await source(name, { topics: ['p'] }, { pipelineRules: [`${name}Rule`], ...more });
    await expect.poll(() => audits(name)).toEqual(['insert', 'error']);
    expect(await logs(name)).toEqual([expect.stringContaining(`pipeline.unresolved: `)]);
    expect(await status(name)).toMatchObject({ state: 'error', failed: 0 });
    await t.program('rules', `RULE ${name}Rule WHEN MESSAGE ARRIVES FROM ${name} AS m\nreturn m`);
    await expect.poll(() => audits(name)).toEqual(['insert', 'error', 'connected']);
    await t.ask('delete', 'sources', { id: name });
  }
});

// spec: integrations.md 1.6 1.8
test('a message that is unwound counts as dropped once, however many elements of it are', async () => {
  await t.program(
    'rules',
    'RULE keepsOne WHEN MESSAGE ARRIVES FROM unwound AS m\nvar kept = null\nif (m.n == 1) { kept = m }\nreturn kept',
  );
  await source('unwound', {}, { autoUnwind: true, mockMode: true, pipelineRules: ['keepsOne'] });
  await t.program('procedures', 'PROCEDURE sends(m)\nTest.sendMockSourceEvent("unwound", m, "")');
  for (const numbers of [[1, 2, 3, 4], [2, 3, 4], [], [1, 1]])
    await t.ask('execute', 'procedures', { id: 'sends', body: JSON.stringify([numbers.map((n) => ({ n }))]) });
  expect(await status('unwound')).toMatchObject({ received: 4, dropped: 2 });
});

// spec: integrations.md 1.4
test.each([
  ['EMAIL', { host: 'nowhere.invalid', port: 25 }, { from: 'a@x.example', to: 'b@x.example', subject: 's' }, 'cascade.email.body.invalid'],
  ['CHATBOT', { clientId: 'c', clientSecret: '@secrets(gone)' }, { text: 'a' }, 'cascade.chatbot.message.invalid'],
  ['MQTT', {}, { topic: 'a/#', message: 1 }, 'cascade.mqtt.topic.invalid'],
  ['AMQP', { serverURIs: 'amqp://nowhere.invalid' }, { message: 1 }, 'cascade.amqp.topic.missing'],
])('%s: an invalid publish is refused without a connection, and is no failure of the source', async (type, config, request, code) => {
  const name = `unready${type}`;
  await source(name, { contentType: '@secrets(gone)', ...config }, { type });
  await isIn(name, 'error');
  await expect(t.ask('publish', 'sources', { id: name, body: JSON.stringify(request) })).rejects.toMatchObject({ code, status: 400 });
  const { failed, attempts } = await status(name);
  expect(failed).toBe(attempts);
  await t.ask('delete', 'sources', { id: name });
});
