// Runs that do what a compiled program is kept from doing: the backstops, one for each way to take an isolate or the process down.
import { expect, test } from 'vitest';
import { exists, openRoom, pause, program, run, stateOf } from './testing/room.ts';

// What comes first on a slow machine, the end of the memory or of the time, is left open.
const either = /^cascade\.execution\.(timeout|memory)$/;
const bombs = [
  { does: 'loops for ever', body: 'for (;;);', code: /^cascade\.execution\.timeout$/ },
  { does: 'squares a big integer for ever', body: 'let x = 3n; for (;;) x *= x;', code: either },
  { does: 'pushes on an array for ever', body: 'const list = []; for (;;) list.push({ n: 1 });', code: either },
  { does: 'fills an array far past its end', body: 'const list = []; for (let i = 0; i < 6e7; i++) list[i] = i;', code: either },
  { does: 'assigns to an index far past the end', body: 'const list = [1]; list[60000000] = 1; list.fill(7);', code: either },
  { does: 'grows a map for ever', body: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i);', code: either },
  { does: 'grows a string for ever', body: 'const all = []; for (let s = "x"; ; s += s + s) all.push(s.split(""));', code: either },
];

test('each bomb ends as poison, and its neighbours go on meanwhile', async () => {
  await using sandbox = await openRoom();
  const opts = { username: '', resource: '/rules/other' };
  let over = false;
  const neighbours = Array.from({ length: 20 }, (_, i) => {
    // Half of them live with a bomb.
    const namespace = i % 2 ? 'quiet' : `bomb-${i % bombs.length}`;
    return run(
      sandbox,
      'const seen = [a]; while (yield $.op("goOn")) seen.push(yield $.op("x", a)); return seen;',
      {
        args: [i],
        namespace,
        opts: { ...opts, namespace },
      },
      async ({ kind, payload }) => {
        await pause(20 + i);
        return { ok: JSON.stringify(kind === 'goOn' ? !over : payload) };
      },
    );
  });
  const ends = bombs.map(({ body }, i) => run(sandbox, body, { namespace: `bomb-${i}`, opts: { ...opts, namespace: `bomb-${i}` } }));
  for (const [i, { does, code }] of bombs.entries()) {
    const { failure } = (await ends[i]) ?? {};
    expect(failure, does).toMatchObject({ code: expect.stringMatching(code), status: 429, poison: true, frames: [] });
  }
  over = true;
  for (const [i, { value, ops, failure }] of (await Promise.all(neighbours)).entries()) {
    expect(failure).toBeUndefined();
    expect(new Set(value as number[])).toEqual(new Set([i]));
    expect(ops).toHaveLength(2 * (value as number[]).length - 1); // each asked for once
  }
});

test('deep recursion ends only the run', async () => {
  await using sandbox = await openRoom();
  const { failure } = await run(sandbox, 'const f = () => f() + 1; return f();');
  expect(failure).toMatchObject({ code: 'test.thrown', message: expect.stringContaining('call stack') });
  expect(sandbox.stats().deaths).toBe(0);
});

test('the innocent of a batch finish, each request asked for once', async () => {
  await using sandbox = await openRoom({ lanes: 1 });
  const innocent = program('const x = yield $.op("x", a); yield $.log("seen " + x); return x + (yield $.op("y", a));');
  const bomb = program('yield $.op("x", 0); const list = []; for (let i = 0; i < 6e7; i++) list[i] = i;');
  const all = await Promise.all(Array.from({ length: 30 }, (_, i) => run(sandbox, i === 17 ? bomb : innocent, { args: [i] })));
  for (const [i, { value, failure, ops, logs }] of all.entries()) {
    expect(ops).toHaveLength(i === 17 ? 1 : 2);
    if (i === 17) expect(failure).toMatchObject({ status: 429, poison: true });
    else expect([value, logs]).toEqual([2 * i, [`seen ${i}`]]);
  }
});

test('a namespace found guilty stays apart: its next bomb harms only the quarantine process', async () => {
  await using sandbox = await openRoom();
  const bomb = 'const list = []; for (let i = 0; i < 6e7; i++) list[i] = i;';
  expect((await run(sandbox, bomb)).failure?.poison).toBe(true);
  const pid = sandbox.pid();
  expect(sandbox.stats().quarantinedNamespaces).toEqual(['main']);
  expect((await run(sandbox, bomb)).failure?.poison).toBe(true);
  expect((await run(sandbox, 'return 1;')).value).toBe(1);
  expect(sandbox.pid()).toBe(pid);
});

test('a run that has done harm before may be started alone', async () => {
  await using sandbox = await openRoom();
  const pid = sandbox.pid();
  const { failure } = await run(sandbox, 'for (;;);', { alone: true });
  expect(failure).toMatchObject({ code: 'cascade.execution.timeout', poison: true });
  expect(sandbox.pid()).toBe(pid);
});

test('a run whose record is too long cannot be repeated', async () => {
  await using sandbox = await openRoom();
  const long = JSON.stringify('x'.repeat(5 * 1024 * 1024));
  const waits = run(sandbox, 'const x = yield $.op("x"); yield $.op("wait"); return 1;', {}, ({ kind }) =>
    kind === 'x' ? { ok: long } : new Promise(() => {}),
  );
  await pause(300);
  process.kill(sandbox.pid() as number, 'SIGKILL');
  expect((await waits).failure).toMatchObject({ code: 'cascade.server.error', status: 500 });
});

test('a process that is stopped is replaced, and so is one that falls silent', async () => {
  await using sandbox = await openRoom();
  const pid = sandbox.pid() as number;
  process.kill(pid, 'SIGSTOP');
  while (stateOf(pid) !== 'T') await pause(1); // the signal takes its time, in which the process answers
  expect((await run(sandbox, 'return 1;')).value).toBe(1);
  expect(sandbox.pid()).not.toBe(pid);
  expect(exists(pid)).toBe(false);
});
