// An escape from an isolate, played by native code and by scripts that run in the sandbox process itself: what the system lets them do.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { processEntry } from '../entries.ts';
import { exists, openRoom, run } from '../testing/room.ts';
import { systemCallFilter } from './filter.ts';
import { LEVELS, type Level, openConfinement } from './index.ts';
import { findProgram } from './programs.ts';

const isLinux = process.platform === 'linux';
const source = (name: string): string => fileURLToPath(new URL(`../testing/${name}`, import.meta.url));
const best = (await openConfinement(processEntry())).level;
const has = (level: Level): boolean => LEVELS.indexOf(best) >= LEVELS.indexOf(level);

/** What came out of the hole of a sandbox that serves already, as pairs of attempt and outcome. */
async function attempts(level: Level): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-hole-'));
  const peer = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  /** Another process of this user, to be reached for. */
  const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
  let said = '';
  const received = new Writable({
    write(line: Buffer, _encoding, done) {
      const { stderr = '', msg } = JSON.parse(line.toString()) as { stderr?: string; msg: string };
      said += stderr;
      if (said.includes('END\n')) this.emit('told');
      done(msg === 'the sandbox process ended' ? new Error(line.toString()) : null);
    },
  });
  try {
    const cc = findProgram('cc');
    const native = cc ? join(folder, 'hole.node') : '';
    if (cc) {
      const built = spawnSync(cc, ['-shared', '-fPIC', '-o', native, source('hole.c')], { encoding: 'utf8' });
      expect(built.stderr).not.toContain('error');
    }
    const real = processEntry();
    const entry = {
      ...real,
      file: source('hole.mjs'),
      // Without the permission model, which native code does not ask.
      flags: real.flags.filter((flag) => !/^--(experimental-)?permission$|^--allow-/.test(flag)),
      args: [real.file, native, String(victim.pid), String((peer.address() as AddressInfo).port)],
      readable: [...real.readable, dirname(source('hole.mjs')), folder],
    };
    await using sandbox = await openRoom({
      entry,
      confineAtMost: level,
      log: pino({ level: 'warn' }, received),
      standbyAfterMs: 1e6,
      heartbeatMs: 10_000, // what comes in through the hole keeps the process from answering
    });
    expect((await run(sandbox, 'return 1;')).value).toBe(1); // before that, the signal would end the process
    const reported = once(received, 'told');
    process.kill(sandbox.pid() as number, 'SIGUSR2');
    await reported;
    expect((await run(sandbox, 'return 6 * 7;')).value).toBe(42); // and it still serves
    const lines = said.slice(said.indexOf('HOLE\n') + 5, said.indexOf('END\n'));
    return new Map(
      lines
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
  } finally {
    peer.close();
    victim.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

const done = (found: Map<string, string>): string[] => [...found].flatMap(([what, outcome]) => (outcome === 'done' ? [what] : []));

test.skipIf(!has('filtered'))('native code in a process confined by bubblewrap gets nothing', async () => {
  const found = await attempts('filtered');
  expect(found.size).toBeGreaterThan(7);
  expect(done(found)).toEqual([]);
});

test.skipIf(!has('namespaces'))('without bubblewrap, it gets nothing by the namespaces of unshare', async () => {
  const found = await attempts('namespaces');
  expect(done(found)).toEqual([]);
});

test.skipIf(!has('limits'))('with limits alone it opens nothing', async () => {
  const found = await attempts('limits');
  expect(done(found).filter((what) => what !== 'end the service' && what !== 'enter a new namespace')).toEqual([]);
});

test.runIf(isLinux)('the harness finds the hole where nothing confines the process', async () => {
  const found = await attempts('none');
  expect(done(found)).toEqual(
    expect.arrayContaining(['script reads a file', 'script runs a program', 'script connects', 'script listens']),
  );
});

test('what is required of the system is refused where it does not give it', async () => {
  await expect(openRoom({ requireLevel: 'limits', confineAtMost: 'none' })).rejects.toThrow("confined to the level 'limits'");
});

test('a process that is confined ends with its sandbox', async () => {
  const sandbox = await openRoom();
  const pid = sandbox.pid();
  expect(exists(pid)).toBe(true);
  await sandbox[Symbol.asyncDispose]();
  expect(exists(pid)).toBe(false);
});

test('the filter is a program whose jumps stay inside it and whose every end is a verdict', () => {
  expect(systemCallFilter('mips')).toBeNull();
  for (const architecture of ['x64', 'arm64']) {
    const bytes = systemCallFilter(architecture) as Buffer;
    const length = bytes.length / 8;
    expect(length).toBeLessThan(4096);
    for (let at = 0; at < length; at += 1) {
      const isJump = (bytes.readUInt16LE(at * 8) & 7) === 5;
      if (isJump) expect(at + 1 + Math.max(bytes[at * 8 + 2] as number, bytes[at * 8 + 3] as number)).toBeLessThan(length);
    }
    expect(bytes.readUInt16LE((length - 1) * 8)).toBe(6);
  }
});
