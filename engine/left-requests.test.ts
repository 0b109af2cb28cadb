// A caller that goes away ends what runs for it, on all of the stack: the procedure, and the BEFORE rules of its changes (integrations.md 11.3).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson } from '../model/values/index.ts';
import type { ApiReply } from '../resources/api.ts';
import { openTestEngine, type TestEngine } from './testing/engine.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('Begun', { what: { type: 'String' } });
  await t.type('Slow', { what: { type: 'String' } });
  await t.program('rules', 'RULE lasting BEFORE INSERT ON Slow AS s INSERT Begun(what: s.what) var n = 0 while (true) { n = n + 1 }');
  await t.program('procedures', 'PROCEDURE makesSlow(what)\nvar s = INSERT Slow(what: what)\nreturn 1');
});
afterAll(() => t[Symbol.asyncDispose]());

const asked = (signal: AbortSignal, op: string, resourceName: string, body: string, resourceId?: string): Promise<ApiReply> =>
  t.engine.execute({
    identity: t.identity,
    op,
    resourceName,
    custom: null,
    ...(resourceId !== undefined && { resourceId }),
    object: parseJson(body),
    parameters: {},
    federation: { hop: 1, isTyped: false },
    signal,
  });

/** Begins a request, and aborts it when its BEFORE rule is under way. */
async function left(what: string, begin: (signal: AbortSignal) => Promise<ApiReply>): Promise<unknown> {
  const ending = new AbortController();
  const answer = begin(ending.signal).then(
    ({ body }) => body,
    (error: unknown) => error,
  );
  await t.eventually('Begun', { what }, 1);
  ending.abort();
  return answer;
}

const GONE = { code: 'cascade.execution.timeout', params: ['/rules/lasting', 'its caller has gone'] };
const ended = (count: number) => t.eventually('logs', { resource: '/rules/lasting', message: { $regex: 'its caller has gone' } }, count);

test('the BEFORE rule of a change, which is not made', async () => {
  expect(await left('a', (signal) => asked(signal, 'insert', 'Slow', '{"what":"a"}'))).toMatchObject(GONE);
  await ended(1);
});

test('the BEFORE rule of a change that a procedure makes', async () => {
  const answer = await left('b', (signal) => asked(signal, 'execute', 'procedures', '["b"]', 'makesSlow'));
  expect(answer).toMatchObject({ code: 'cascade.execution.timeout', params: ['/procedures/makesSlow', 'its caller has gone'] });
  await ended(2);
  expect(await t.rows('Slow')).toEqual([]);
});
