// `cascade bench` as a user calls it; the service that it starts and the sandbox's processes are the built ones.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cascade, type Outcome } from '../../testing/fake-terminal.ts';
import { readEvents } from './events.ts';
import type { BenchResult } from './result.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-bench-test-'));
  for (const name of ['types', 'rules']) await mkdir(at(`p/${name}`), { recursive: true });
  const types = {
    Reading: { n: { type: 'Integer', minimum: 1, maximum: 9 }, at: { type: 'DateTime' } },
    Alarm: { n: { type: 'Integer' } },
  };
  for (const [name, properties] of Object.entries(types)) await writeFile(at(`p/types/${name}.json`), JSON.stringify({ name, properties }));
  await writeFile(at('p/rules/high.rule'), 'RULE high WHEN INSERT OCCURS ON Reading AS r WHERE r.n > 0\nINSERT Alarm(n: r.n)');
  await writeFile(at('p/rules/sum.rule'), 'RULE sum WHEN INSERT OCCURS ON Reading AS r WHERE r.n < 0\nvar x = r.n');
  await writeFile(at('one.ndjson'), '{"type": "Reading", "object": {"n": -3}}\n\n{"topic": "/a", "value": 1}\n');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const bench = (...args: string[]): Promise<Outcome> => cascade(['bench', at('p'), ...args]);

test('each stage of a rule is measured on a service of its own, and reported as text, as JSON and as a self-contained page', async () => {
  const load = ['--generate', 'Reading', '--rate', '40', '--seconds', '1', '--rounds', '1', '--lanes', '1', '--connections', '4'];
  const { code, out } = await bench(...load, '--subscribe', '/types/Alarm/insert', '--report', at('r.html'), '--output', at('r.json'));
  expect(code).toBe(0);
  const { rounds, figures } = JSON.parse(await readFile(at('r.json'), 'utf8')) as BenchResult;
  expect(rounds).toMatchObject([{ intended: 40, answered: 40, refused: {}, rules: [{ rule: 'high', failed: 0 }] }]);
  const counts = Object.entries(rounds[0]?.rules[0]?.stages ?? {}).map(([stage, { buckets }]) => [
    stage,
    buckets.reduce((sum, [, n]) => sum + n, 0),
  ]);
  expect(Object.fromEntries(counts)).toEqual({
    ...{ accepted: 40, committed: 40, run_begun: 40, run_ended: 40, effect_committed: 40, subscriber_told: 40 },
  });
  expect(Object.keys(figures)).toEqual(expect.arrayContaining(['requests, p99.9', 'high, subscriber told, p99']));
  expect(out).toMatch(/high +subscriber told +40 /);
  const page = await readFile(at('r.html'), 'utf8');
  expect(page).toContain('<td>subscriber told</td>');
  expect(page).not.toMatch(/<script|https?:|src=|@import|url\(/);
});

test('events of a file are sent with all digits of their integers', async () => {
  await writeFile(
    at('long.ndjson'),
    '{"topic": "/a", "value": {"serial": 9007199254740993}}\n{"topic": "/a", "value": 9007199254740993}\n',
  );
  const values = (await readEvents(at('long.ndjson'))).map(({ value }) => JSON.stringify(value));
  expect(values).toEqual(['{"serial":9007199254740993}', '9007199254740993']);
});

test('--core runs the rules that match, without a service', async () => {
  const { code, out } = await bench('--events', at('one.ndjson'), '--core', '--seconds', '1', '--rounds', '1', '--lanes', '1', '--json');
  const { rounds, figures } = JSON.parse(out) as BenchResult;
  expect(code).toBe(0);
  expect(rounds[0]?.rules.map(({ rule, failed }) => [rule, failed])).toEqual([['sum', 0]]);
  expect(Object.keys(figures)).toEqual(['index alone', 'index and sandbox', 'index and sandbox, runs']);
});

test.each([
  [[], 'Give either --events FILE.ndjson or --generate TYPE'],
  [['--generate', 'Reading', '--events', 'x'], 'Give either'],
  [['--generate', 'Reading'], 'Give one of --rate N, --ramp and --core'],
  [['--generate', 'Reading', '--rate', '1', '--ramp'], 'Give one of'],
  [['--generate', 'Nothing', '--core'], 'has no type Nothing; it has Alarm, Reading'],
  [['--events', '/nowhere.ndjson', '--core'], '/nowhere.ndjson cannot be read: there'],
  [['--generate', 'Reading', '--rate', '1', '--bound', '5'], '--bound does not go with --rate'],
  [['--generate', 'Reading', '--rate', '0'], 'whole number from 1'],
  [['--generate', 'Reading', '--core', '--url', 'http://localhost'], '--core does not go with --url'],
  [['--generate', 'Reading', '--rate', '1', '--token', 'x'], 'give --url, too'],
  [['--generate', 'Reading', '--rate', '1', '--subscribe', 'Alarm'], 'the path of an event'],
  [['--generate', 'Reading', '--rate', '1', '--report', '/nowhere/r.html'], '/nowhere/r.html cannot be written: th'],
] as const)('%j is refused', async (args, message) => {
  const { code, out, err } = await bench(...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
});

test.each([
  ['nonsense', 'line 1 is no JSON'],
  ['{"type": "Reading"}', 'line 1 is no event'],
  ['{"type": "Reading", "object": {}, "n": 1}', "line 1: 'n' is no member"],
  ['\n\n{"topic": "a", "value": 1}', 'line 3 is no event'],
  ['\n', 'holds no events'],
])('the file of events %j is refused', async (text, message) => {
  await writeFile(at('wrong.ndjson'), text);
  const { code, err } = await bench('--events', at('wrong.ndjson'), '--core');
  expect(code).toBe(2);
  expect(err).toContain(message);
});
