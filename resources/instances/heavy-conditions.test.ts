// Conditions that take long are evaluated in the sandbox: in the service's own process they would delay everybody.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('Text', { kind: { type: 'String' }, t: { type: 'String' } });
  await t.type('Seen', { rule: { type: 'String' } });
});
afterAll(() => t[Symbol.asyncDispose]());

const LONG = `${'word 17, '.repeat(6_000)}end`;

const insert = (kind: string, text: string) => t.ask('insert', 'Text', { body: JSON.stringify({ kind, t: text }) });

test.each([
  ['an operator', 'x.t regex "(\\\\w+\\\\W+){5}.*end$"', true],
  ['an operator that finds nothing', 'x.t regex "(\\\\w+\\\\W+){5}.*END$"', false],
  ['a pattern that backtracks', 'search(x.t, "(?=.*end$)word") == 0', true],
  ['a function', 'matches(x.t, "(?s).*end") == true', true],
  ['a method', 'x.t.replace("[0-9]+", "").length() == 42003', true],
  ['a method of no function', 'x.t.split(",").get(6000) == " end"', true],
  ['two of them', 'search(x.t, "end$") > 0 && length(match(x.t, "1")) == 6000', true],
  ['one within another', 'length(split(replace(x.t, "word", "w"), "w")) == 6001', true],
  ['a where-object', '{"t": {"$regex": "(\\\\w+\\\\W+){5}.*end$"}}', true],
])('%s', async (what, condition, runs) => {
  const name = `r${what.replaceAll(/\W/g, '')}`;
  const parts = condition.startsWith('{') ? `{"kind": "${name}", ${condition.slice(1)}` : `x.kind == "${name}" && (${condition})`;
  await t.program('rules', `RULE ${name} WHEN INSERT OCCURS ON Text AS x WHERE ${parts}\nINSERT Seen(rule: "${name}")`);
  await insert(name, LONG);
  await t.engine.settled();
  expect(await t.rows('Seen', { rule: name })).toHaveLength(runs ? 1 : 0);
});

test('a BEFORE rule waits for such a condition', async () => {
  await t.program(
    'rules',
    'RULE shorten BEFORE INSERT ON Text AS x WHERE x.kind == "before" && length(split(x.t, "[7]+,")) > 6000\nx.t = "cut"',
  );
  const stored = await insert('before', LONG);
  expect(JSON.parse(stored.body ?? '')[0].t).toBe('cut');
});

test('where the sandbox cannot be asked the condition fails: a correlation goes on without the event', async () => {
  await t.program(
    'rules',
    `RULE both WHEN INSERT OCCURS ON Text AS a WHERE a.kind == "both" && length(split(a.t, "[7]+,")) > 6000
     AND INSERT OCCURS ON Text AS b WHERE b.kind == "second" WITHIN 1 hour\nINSERT Seen(rule: "both")`,
  );
  await insert('both', LONG);
  await insert('second', '');
  await t.engine.settled();
  expect(await t.rows('Seen', { rule: 'both' })).toEqual([]);
  await t.eventually('ArsRuleSnapshot', { 'resource.resourceId': 'both', 'error.code': 'cascade.builtin.timeout' }, 1);
});

test('such a condition on definitions is refused', async () => {
  await t.program('rules', `RULE wordy WHEN INSERT OCCURS ON Text AS x\n// ${'word '.repeat(4_000)}\nINSERT Seen(rule: "wordy")`);
  const where = (pattern: string) => ({ parameters: { where: JSON.stringify({ ruleText: { $regex: pattern } }) }, custom: false });
  await expect(t.ask('select', 'rules', where('(.{0,900})Z'))).rejects.toMatchObject({ code: 'cascade.query.too.expensive', status: 400 });
  expect(JSON.parse((await t.ask('select', 'rules', where('word word'))).body ?? '')).toHaveLength(1);
});
