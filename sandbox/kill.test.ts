// The sandbox process killed from outside at any moment, and the service killed around it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FAKE_BUNDLE } from './testing/fake-bundle.ts';
import { exists, openRoom, pause, program, run, stateOf } from './testing/room.ts';

test('runs end as if nothing had happened, each request and log entry told once', async () => {
  await using sandbox = await openRoom();
  const body = program(`
    let sum = 0;
    for (let i = 0; i < 12; i++) {
      sum += yield $.op('x', i, i % 3 ? 'odd' : 'even');
      yield $.log('step ' + i);
      if (i % 4 === 0) yield $.slice();
      try { yield $.op('refuse', i); } catch (error) { sum += error.params[0]; }
    }
    return sum;`);
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const all = Array.from({ length: 200 }, (_, i) =>
    run(sandbox, body, { namespace: `n${i % 5}` }, async ({ kind, payload }) => {
      await pause(random(40));
      return kind === 'x' ? { ok: '1' } : { error: { code: 'no', message: '', params: [payload], status: 400 } };
    }),
  );
  let ended = false;
  const killing = (async () => {
    for (let kills = 0; kills < 12 && !ended; kills += 1) {
      await pause(50 + random(250));
      const pid = kills % 3 === 2 ? (sandbox.stats().quarantinePid ?? sandbox.pid()) : sandbox.pid();
      if (exists(pid)) process.kill(pid as number, 'SIGKILL'); // else it has ended, and that is not heard of yet
    }
  })();
  const results = await Promise.all(all);
  ended = true;
  await killing;
  expect(sandbox.stats().deaths).toBeGreaterThan(2);
  for (const { value, failure, ops, logs } of results) {
    expect(failure).toBeUndefined();
    expect(value).toBe(12 + 66);
    expect(new Set(ops.map(({ site, nth }) => `${site}#${nth}`)).size).toBe(24);
    expect(ops).toHaveLength(24);
    expect(logs).toEqual(Array.from({ length: 12 }, (_, i) => `step ${i}`));
  }
});

test('a process in waiting takes the place of one that was killed, and another one waits then', async () => {
  await using sandbox = await openRoom({ standbyAfterMs: 1 });
  await run(sandbox, 'return 1;'); // before something has run, none waits
  for (let i = 0; i < 2; i += 1) {
    while (sandbox.stats().standbyPid === undefined) await pause(5);
    const waiting = sandbox.stats().standbyPid;
    process.kill(sandbox.pid() as number, 'SIGKILL');
    while (sandbox.stats().deaths === i) await pause(1);
    expect(sandbox.pid()).toBe(waiting);
    expect((await run(sandbox, 'return 1;')).value).toBe(1);
  }
});

test('a process in waiting that dies is replaced like any other', async () => {
  await using sandbox = await openRoom({ standbyAfterMs: 1 });
  await run(sandbox, 'return 1;');
  while (sandbox.stats().standbyPid === undefined) await pause(5);
  const first = sandbox.stats().standbyPid as number;
  process.kill(first, 'SIGKILL');
  while ([undefined, first].includes(sandbox.stats().standbyPid)) await pause(5);
  expect(sandbox.stats().deaths).toBe(0);
  expect((await run(sandbox, 'return 1;')).value).toBe(1);
});

test('a process that is killed while it starts is replaced', async () => {
  await using sandbox = await openRoom({ standbyAfterMs: 1e6 });
  for (const afterMs of [0, 2, 5, 12, 30]) {
    const killed = sandbox.pid() as number;
    process.kill(killed, 'SIGKILL');
    while ([undefined, killed].includes(sandbox.pid())) await pause(1); // longer each time
    await pause(afterMs);
  }
  expect((await run(sandbox, 'return 1;')).value).toBe(1);
});

test('a killed process is replaced (how soon: npm run bench -- sandbox)', async () => {
  await using sandbox = await openRoom();
  await run(sandbox, 'return 1;');
  for (let i = 0; i < 3; i += 1) {
    const killed = sandbox.pid() as number;
    process.kill(killed, 'SIGKILL');
    while (!((await run(sandbox, 'return 1;')).value === 1 && sandbox.stats().deaths > i)) await pause(1);
    expect(sandbox.pid()).not.toBe(killed);
  }
});

const service = `
  import { openSandbox } from ${JSON.stringify(new URL('../dist/sandbox/index.js', import.meta.url).href)};
  const log = Object.fromEntries(['info', 'warn', 'error'].map((level) => [level, () => {}]));
  const bundle = process.env.BUNDLE;
  const sandbox = await openSandbox({ lanes: 2, heartbeatMs: 100, bundle, log, resolveProcedure: async () => null });
  const source = '(function () { return function* () { let x = 3n; for (;;) x *= x; } })';
  const program = { id: 'p', module: { hash: 'm', source }, constantsJson: '[]' };
  const opts = { namespace: 'main', username: '', resource: '' };
  sandbox.start({ id: 'stuck', namespace: 'main', program, argsJson: '[]', at: 0, seed: '', opts, observer: {} });
  setTimeout(() => console.log(sandbox.pid()), 200);
`;

for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
  test(`the sandbox process does not outlive a service that gets ${signal}, though one of its lanes is stuck`, async () => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', service], {
      env: { BUNDLE: FAKE_BUNDLE },
      cwd: fileURLToPath(new URL('../', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(String(line).trim());
      expect(exists(pid)).toBe(true);
      parent.kill(signal);
      for (let i = 0; i < 500 && isAlive(pid); i += 1) await pause(10);
      expect(isAlive(pid)).toBe(false);
    } finally {
      parent.kill('SIGKILL');
    }
  });

/** Not even as a zombie that its stopped parent has not looked after: that one answers signal 0, but has no memory any more. */
function isAlive(pid: number): boolean {
  return exists(pid) && ![null, 'Z'].includes(stateOf(pid));
}
