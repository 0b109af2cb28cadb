// Stages of a rule are measured where they happen, from the request to the subscriber of the rule's own events.
import pino from 'pino';
import { expect, test } from 'vitest';
import { STAGES } from '../runtime/context/stages.ts';
import { openOwnDatabase } from './testing/database.ts';
import { openTestEngine } from './testing/engine.ts';

test('each stage of a rule is reached once per event, in order; a rule that another one starts begins with its own event', async () => {
  await using t = await openTestEngine();
  await t.type('Reading', { n: { type: 'Integer' } });
  await t.type('Alert', { n: { type: 'Integer' } });
  await t.type('Note', { n: { type: 'Integer' } });
  await t.program('rules', 'RULE first WHEN INSERT OCCURS ON Reading AS r WHERE r.n > 0\nINSERT Alert(n: r.n)');
  await t.program('rules', 'RULE second WHEN INSERT OCCURS ON Alert AS a\nvar n = a.n\nINSERT Note(n: n)\nlog.debug("done")');
  const received: string[] = [];
  await t.engine.subscribe(t.identity, '/types/Alert/insert', {}, (notice) => void received.push(notice.kind));
  for (let n = 0; n < 5; n++) await t.ask('insert', 'Reading', { body: `{"n": ${n}}` });
  await t.eventually('Note', {}, 4);
  await t.engine.settled();
  const measured = Object.fromEntries(
    [...t.engine.counters.stages.all()]
      .filter(({ namespace }) => namespace === t.identity.namespace)
      .map(({ rule, stages }) => [rule, stages]),
  );
  const counts = (rule: string) => STAGES.map((stage) => measured[rule]?.get(stage)?.count ?? 0);
  expect(Object.keys(measured).sort()).toEqual(['first', 'second']);
  expect(received).toHaveLength(4);
  expect(counts('first')).toEqual([4, 4, 4, 4, 4, 4]);
  expect(counts('second')).toEqual([4, 4, 4, 4, 4, 0]);
  for (const rule of ['first', 'second']) {
    const sums = ['accepted', 'committed', 'run_begun', 'run_ended'].map((stage) => measured[rule]?.get(stage as 'accepted')?.sumMs ?? -1);
    expect(sums).toEqual([...sums].sort((a, b) => a - b));
  }
});

test('the stages of a tail effect are reported without an error on the way, which the slower path would hide', async () => {
  const errors: string[] = [];
  await using database = await openOwnDatabase(); // in the common one it might take over what another file's engine has left
  await using t = await openTestEngine({
    mongoUri: database.uri,
    log: pino({ level: 'error' }, { write: (line: string) => void errors.push(line) }),
  });
  await t.type('Reading', { n: { type: 'Integer' } });
  await t.type('Alert', { n: { type: 'Integer' } });
  await t.program('rules', 'RULE last WHEN INSERT OCCURS ON Reading AS r\nINSERT Alert(n: r.n)');
  await t.ask('insert', 'Reading', { body: '{"n": 1}' });
  await t.eventually('Alert', {}, 1);
  expect(errors).toEqual([]);
});
