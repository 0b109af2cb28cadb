// `cascade test` on a real service: a month passes at once, and a failed case is reported with its place.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { amount } from '../../scripts/testing/amount.ts';
import { main } from './main.ts';

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const terminal = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    colors: false,
    env: process.env,
  };
  return { code: await main(['test', ...args], terminal), out, err };
}

test('the examples over a month and a day pass; a failed case is reported with line and reason, and the exit code is 1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-cases-'));
  const file = join(folder, 'wrong.yaml');
  await writeFile(
    file,
    'cases:\n  - name: time does not pass by itself\n    steps:\n      - compute: { body: "return date(now())", as: at }\n      - advance: { by: 1 day }\n      - compute: { body: "return date(now()) - 86400000", value: $at }\n      - compute: { body: "return 1", value: 2 }\n',
  );
  const { code, out, err } = await run('examples/invoices', 'examples/inspection', file, '--at', '2027-01-31T12:00:00Z');
  await rm(folder, { recursive: true });
  expect({ code, err }, out).toEqual({ code: 1, err: '' });
  expect(out).toMatch(/^✓ .*invoices\.yaml \(3 cases, \d+ ms\)\n/m);
  expect(out).toMatch(/^✓ .*inspection\.yaml \(2 cases, \d+ ms\)\n/m);
  expect(out).toContain('time does not pass by itself\n      line 7: the value is 1, wanted 2');
  expect(out).toMatch(/\n5 passed, 1 failed\n$/);
});

// spec: language.md Y9 K5; integrations.md 10.2-10.4
test('the cases of time pass on a clock that jumps: those of the conformance suite, and those too long for real time', async () => {
  const inBoth = ['conformance/cases/api/scheduledevents.yaml', 'conformance/cases/rules/correlation.yaml'].slice(0, amount(1, 2));
  const { code, out } = await run(...inBoth, 'conformance/virtual', '--at', '2027-02-20T12:00:00Z');
  expect(code, out).toBe(0);
  expect(out).toMatch(/\n\d+ passed, 0 failed\n$/);
});

test.each([
  [['nowhere.yaml'], 'nowhere.yaml cannot be read.'],
  [['server/cli'], 'server/cli holds no .yaml files.'],
  [['package.json'], 'is not known here'],
  [['examples/invoices', '--at', 'soon'], "'soon' is no time"],
])('%j is refused before a service starts', async (args, reason) => {
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(reason);
});
