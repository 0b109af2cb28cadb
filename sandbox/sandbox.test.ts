import { expect, test } from 'vitest';
import type { RunFailure } from './index.ts';
import { exists, openRoom, pause, program, run } from './testing/room.ts';

test('a run gives its value, with constants and arguments in hand', async () => {
  await using sandbox = await openRoom();
  const { value } = await run(sandbox, program('return [$.k[0], a, b];', ['c']), { args: [1, { x: 'ü' }] });
  expect(value).toEqual(['c', 1, { x: 'ü' }]);
});

test('requests are answered, refused and counted by site', async () => {
  await using sandbox = await openRoom();
  const body = `
    const first = yield $.op('insert', { n: 1 });
    const second = yield $.op('insert', { n: 2 });
    try { yield $.op('delete', {}, '2'); } catch (error) { return [first, second, error.code, $.at]; }`;
  const ended = await run(sandbox, body, {}, ({ kind, payload }) =>
    kind === 'delete' ? { error: { code: 'no', message: '', params: [], status: 403 } } : { ok: JSON.stringify(payload) },
  );
  expect(ended.value).toEqual([{ n: 1 }, { n: 2 }, 'no', expect.any(Number)]);
  expect(ended.ops.map(({ site, nth }) => `${site}#${nth}`)).toEqual(['1#0', '1#1', '2#0']);
});

test('many runs share an event, and each gets its own answer', async () => {
  await using sandbox = await openRoom();
  const event = { key: 'e1', binds: 'event' as const, json: '{"value":{"rate":7}}' };
  const body = program('return a.value.rate + (yield $.op("select", Number($.opts.seed)));');
  const opts = { namespace: 'main', username: '', resource: '/rules/r' };
  const all = await Promise.all(Array.from({ length: 500 }, (_, i) => run(sandbox, body, { event, opts, seed: String(i) })));
  expect(all.map(({ value }) => value)).toEqual(Array.from({ length: 500 }, (_, i) => 7 + i));
});

test('procedures are looked up once an isolate, and again after a change', async () => {
  const asked: string[] = [];
  const body = program('return 1;');
  await using sandbox = await openRoom({
    lanes: 1,
    resolveProcedure: async (namespace, name) => {
      asked.push(`${namespace} ${name}`);
      await pause(5);
      return { name, program: body, private: false, service: null, parameters: [], returns: null };
    },
  });
  const call = 'const info = yield $.call("P"); return info.name;';
  const both = await Promise.all([run(sandbox, call), run(sandbox, call)]);
  expect(both.map(({ value }) => value)).toEqual(['P', 'P']);
  expect(asked).toEqual(['main P']);
  sandbox.procedureChanged('main', 'P');
  await run(sandbox, call);
  expect(asked).toEqual(['main P', 'main P']);
});

test('a look-up that fails ends the runs that wait for it', async () => {
  await using sandbox = await openRoom({ resolveProcedure: () => Promise.reject(new Error('no database')) });
  const { failure } = await run(sandbox, 'yield $.call("P");');
  expect(failure).toMatchObject({ code: 'cascade.server.error', status: 500 });
});

test('a dropped run is heard of no more', async () => {
  await using sandbox = await openRoom();
  let received = 0;
  const endless = run(sandbox, 'for (;;) yield $.op("x", 1);', {}, () => {
    received += 1;
    return { ok: '1' };
  });
  while (received < 10) await pause(1);
  sandbox.drop(endless.open);
  await run(sandbox, 'return 1;');
  const before = received;
  await pause(50);
  expect(received).toBe(before);
  expect(sandbox.stats().runs).toBe(0);
});

test('a run that gives way lets others go on, and ends at its CPU limit', async () => {
  await using sandbox = await openRoom({ lanes: 1, cpuTimeMs: 300 });
  const loop = run(sandbox, 'for (;;) { for (let i = 0; i < 3e6; i++); yield $.slice(); }');
  const others = await Promise.all(Array.from({ length: 20 }, () => run(sandbox, 'return yield $.op("x", 1);')));
  expect(others.every(({ value }) => value === 1)).toBe(true);
  const { failure } = await loop;
  expect(failure).toMatchObject({ code: 'cascade.execution.timeout', status: 429, params: ['/rules/test', '0.3 seconds'] });
  expect(failure?.poison).toBeUndefined();
});

test('a run that holds much by its own estimate is told what its isolate holds, alone if need be', async () => {
  await using sandbox = await openRoom();
  const much = 300 * 1024 * 1024;
  const modest = await run(sandbox, `yield $.slice(1); const first = $.heapBytes; yield $.slice(${much}); return [first, $.heapBytes];`);
  expect(modest.value).toEqual([undefined, expect.any(Number)].map((x) => x ?? null));
  await using narrow = await openRoom({ lanes: 1, memoryBytes: 1000 });
  const body = 'yield $.slice(1001); return $.heapBytes;';
  expect((await run(narrow, body)).value).toBeGreaterThan(1000);
  // Whoever was there before may have left something, so it is measured where nobody was.
  expect(narrow.stats()).toMatchObject({ replays: 1, deaths: 0, quarantinePid: expect.any(Number) });
});

test('more namespaces than isolates may live get their turn, and keep their open runs', async () => {
  await using sandbox = await openRoom({ lanes: 1 });
  const body = program('return [$.opts.namespace, yield $.op("x", 1)];');
  const opts = { username: '', resource: '' };
  const release: (() => void)[] = [];
  const all = Array.from({ length: 150 }, (_, i) => {
    const namespace = `n${i}`;
    return run(sandbox, body, { namespace, opts: { ...opts, namespace } }, async () => {
      await new Promise<void>((resolve) => release.push(resolve));
      return { ok: '1' };
    });
  });
  while (release.length < 150) await pause(5);
  expect(sandbox.stats().lanes[0]?.isolates).toBeLessThanOrEqual(64);
  for (const resolve of release) resolve();
  expect((await Promise.all(all)).map(({ value, ops }) => [value, ops.length])).toEqual(
    Array.from({ length: 150 }, (_, i) => [[`n${i}`, 1], 1]),
  );
});

test('an observer that throws harms nobody, and is told that its run has failed', async () => {
  await using sandbox = await openRoom();
  const codes: string[] = [];
  const fails = (): never => {
    throw new Error('observer');
  };
  const failing = (fail: (failure: RunFailure) => void) => ({ op: () => {}, log: () => {}, fail, done: fails });
  void run(sandbox, 'return 1;', { observer: failing(({ code }) => void codes.push(code)) });
  void run(sandbox, 'return 1;', { observer: failing(fails) });
  expect((await run(sandbox, 'return 2;')).value).toBe(2);
  expect(codes).toEqual(['cascade.server.error']);
});

test('no process is left after close', async () => {
  const sandbox = await openRoom();
  void run(sandbox, 'for (;;);');
  void run(sandbox, 'let x = 3n; for (;;) x *= x;');
  await pause(50);
  const pid = sandbox.pid();
  expect(exists(pid)).toBe(true);
  await sandbox[Symbol.asyncDispose]();
  expect(exists(pid)).toBe(false);
  await expect(run(sandbox, 'return 1;')).rejects.toThrow('closed');
});
