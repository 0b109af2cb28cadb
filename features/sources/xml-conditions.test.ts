// XML messages in the conditions of rules, through the engine with an MQTT broker in this process (integrations.md 2.7, language.md W4).
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { type MqttBroker, openMqttBroker } from './protocols/mqtt/testing/mqtt-broker.ts';

let t: TestEngine;
let broker: MqttBroker;
beforeAll(async () => {
  broker = await openMqttBroker();
  t = await openTestEngine({ masterKey: randomBytes(32), outboundAddresses: ['127.0.0.1'] });
  await t.type('Met', { by: { type: 'String' }, text: { type: 'String' } });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

const DOCUMENT = '<r id="q"><house k="z">A</house><two>1</two><two n="3">2<in>x</in></two></r>';

const TRUE = [
  'm.house.text() == "A"',
  'm.house[0].text() == "A"',
  'm.house == "A"',
  'm.house[0] == "A"',
  'm.house.text() != "B"',
  'm.house != "B"',
  'm["@id"] == "q"',
  'm.house[0]["@k"] == "z"',
  'm.house["@k"] == "z"',
  'm.house[0]["@k"].text() == "z"',
  'm.house.size() == 1',
  'm.two.size() == 2',
  'm.two == "1"',
  'm.two == "12x"',
  'm.two[1].in == "x"',
  'm.two.in.text() == "x"',
  'm.two == 1',
  'm.two > 0',
  'm.two IN ["7", "1"]',
  'm.house REGEX "^A"',
  'm.missing.deeper.text() == ""',
  'm.missing == null',
  'm["@missing"] == null',
  'm.house[7].text() == ""',
  'm.missing != "A"',
  'm.name() == "r"',
  'm.children().size() == 3',
  'm.house == "B" OR m.house == "A"',
  'NOT m.house == "B"',
  'm.house.text().trim() == "A"',
  'same(m.house.text())',
  '{ house: "A" }',
];
const FALSE = ['m.house == "B"', 'm.house.text() == ""', 'm.house == null', 'm.missing == "A"', 'm["@id"] == "z"', 'm.two.size() == 1'];

/** Sends the document to a source of its own and awaits that its rules have run. */
async function sent(name: string): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    broker.aedes.publish({ cmd: 'publish', topic: name, payload: DOCUMENT, qos: 1, retain: false, dup: false }, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  await t.eventually('Met', { by: `${name} all` }, 1);
}
async function source(name: string, more: object = {}): Promise<void> {
  const config = { serverURI: `mqtt://127.0.0.1:${broker.port}`, topics: [name], contentType: 'text/xml' };
  await t.ask('insert', 'sources', { body: JSON.stringify({ name, type: 'MQTT', config, ...more }) });
  await expect.poll(async () => JSON.parse((await t.ask('status', 'sources', { id: name })).body ?? '')['state']).toBe('connected');
}
const metBy = async (rules: readonly string[]): Promise<unknown[]> =>
  (await t.rows('Met', {})).map(({ by }) => by).filter((by) => rules.includes(String(by)));

// spec: integrations.md 2.7; language.md W4
test('a condition reaches children, attributes and text of a message as the body of a rule does', async () => {
  await t.program('procedures', 'PROCEDURE same(a String)\n  return a == "A"');
  await t.program('rules', 'RULE all_x WHEN MESSAGE ARRIVES FROM xmlwhere AS m INSERT Met(by: "xmlwhere all")');
  const conditions = [...TRUE, ...FALSE];
  for (const [i, condition] of conditions.entries())
    await t.program(
      'rules',
      `RULE x${i} WHEN MESSAGE ARRIVES FROM xmlwhere AS m WHERE ${condition} INSERT Met(by: ${JSON.stringify(condition)})`,
    );
  await t.program(
    'rules',
    'RULE whole WHEN EVENT OCCURS ON "/sources/xmlwhere" AS e WHERE e.value.house.text() == "A" AND e.value.house == "A" INSERT Met(by: "event")',
  );
  await source('xmlwhere');
  await sent('xmlwhere');
  await expect.poll(async () => (await metBy(TRUE)).sort()).toEqual([...TRUE].sort());
  expect(await metBy(FALSE)).toEqual([]);
  await t.eventually('Met', { by: 'event' }, 1);
});

// spec: integrations.md 1.6/2 2.7; language.md 6.1
test('a rule of a pipeline has such a condition, and an error in one is recorded', async () => {
  await t.program('rules', 'RULE piped WHEN MESSAGE ARRIVES FROM xmlpipe AS m WHERE m.house == "A" return { text: m.house.text() + "!" }');
  await t.program(
    'rules',
    'RULE fails WHEN MESSAGE ARRIVES FROM xmlpipe AS m WHERE m.text.parseDateTime().year == 4 INSERT Met(by: "never")',
  );
  await t.program('rules', 'RULE all_p WHEN MESSAGE ARRIVES FROM xmlpipe AS m INSERT Met(by: "xmlpipe all", text: m.text)');
  await source('xmlpipe', { pipelineRules: ['piped'] });
  await sent('xmlpipe');
  expect(await t.rows('Met', { by: 'xmlpipe all' })).toMatchObject([{ text: 'A!' }]);
  await t.eventually('ArsRuleSnapshot', { entryType: 'error', 'resource.resourceId': 'fails' }, 1);
});
