// Scalars through the engine: what is stored, what is shown, what conditions and orders mean.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../testing/engine.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.program(
    'procedures',
    'PROCEDURE Units.parse(v)\nif (v == "bad") { exception("units.bad", "{0} is bad", [v]) }\nreturn toInteger(replace(toString(v), "%", ""))',
  );
  await t.program('procedures', 'PROCEDURE Units.show(v)\nreturn toString(v) + "%"');
});
afterAll(() => t[Symbol.asyncDispose]());

test('a value is stored as toInternal gives it and shown as toExternal does', async () => {
  await t.ask('insert', 'scalars', {
    body: '{"name":"Percent","baseType":"Integer","toInternal":"Units.parse","toExternal":"Units.show"}',
    custom: false,
  });
  await t.type('Tank', { level: { type: 'Percent' }, all: { type: 'Percent', multi: true } });
  const reply = await t.ask('insert', 'Tank', { body: '[{"level":"50%","all":["1%","2%"]},{"level":"7%"},{"level":"bad"}]' });
  expect(JSON.parse(reply.body ?? '')).toMatchObject([
    { body: { level: '50%', all: ['1%', '2%'] } },
    { body: { level: '7%' } },
    { status: 400, errors: [{ code: 'units.bad', params: ['bad'] }] },
  ]);
  expect(await t.rows('Tank', { level: '50%' })).toMatchObject([{ level: '50%' }]);
});
