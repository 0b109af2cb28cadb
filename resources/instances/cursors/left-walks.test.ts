// What a program has not read to its end is not left open in the store.
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { openTestEngine } from '../../../engine/testing/engine.ts';

const FAILING = 'FOR m IN SELECT FROM Many { exception("left", m.n) }';

test.each([
  ['fails', `PROCEDURE leaves()\n${FAILING}`],
  ['goes on behind a failure', `PROCEDURE leaves()\ntry { ${FAILING} } catch (e) { }\nreturn 1`],
])('a procedure that %s has closed what it read when it ends', async (_kind, text) => {
  await using t = await openTestEngine();
  await using client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  await t.type('Many', { n: { type: 'Integer' }, text: { type: 'String' } });
  const row = (n: number) => ({ n, text: 'x'.repeat(5_000) });
  await t.ask('insert', 'Many', { body: JSON.stringify(Array.from({ length: 300 }, (_, n) => row(n))) });
  await t.program('procedures', text);
  const database = `cascade_ns_${t.identity.namespace}`;
  const cursors = () =>
    client
      .db('admin')
      .aggregate([{ $currentOp: { idleCursors: true } }, { $match: { ns: { $regex: `^${database}` }, type: 'idleCursor' } }])
      .toArray();
  const { length: before } = await cursors();
  await t.ask('execute', 'procedures', { id: 'leaves', body: '[]' }).catch(() => undefined);
  await expect.poll(async () => (await cursors()).length).toBe(before);
});
