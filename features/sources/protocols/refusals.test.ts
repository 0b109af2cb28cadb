import { expect, test } from 'vitest';
import { Refusals } from './refusals.ts';

test('ten refusals a minute are audited and logged one by one, the others as a count', () => {
  let now = 0;
  const [logged, audits]: [string[], string[]] = [[], []];
  const refusals = new Refusals({
    source: 'bot',
    now: () => now,
    log: (_level, message) => void logged.push(message),
    audit: (op) => void audits.push(op),
  });
  for (let n = 0; n < 500; n++) refusals.note();
  expect([logged.length, audits.length]).toEqual([10, 10]);
  now = 60_000;
  refusals.note();
  expect(logged.slice(10)).toEqual([
    'Source bot: authenticate: 490 more messages were refused.',
    'Source bot: authenticate: a message was refused.',
  ]);
  expect(new Set(audits)).toEqual(new Set(['authenticate']));
});
