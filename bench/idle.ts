// What a service holds that nobody uses, its database apart: the service and its sandbox processes, each page counted once, however many share it.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { startService } from '../conformance/client/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { memory, treeOf } from './processes.ts';
import { type Figure, itself, progress } from './report/index.ts';

const ROUNDS = 3;
/** Until what a start needs has been given back: V8 does so by itself, after half a minute without work. */
const REST_MS = 60_000;
const MOST_MB = 200;

export async function idle(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  try {
    await using mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
    const held: number[] = [];
    const own: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      progress(`idle: round ${round + 1} of ${ROUNDS}`);
      await using service = await startService({ args: ['--mongo', mongod.uri] });
      await sleep(REST_MS);
      const pid = service.process.pid ?? 0;
      held.push((await Promise.all((await treeOf(pid)).map(proportional))).reduce((sum, mb) => sum + mb, 0));
      own.push((await memory(pid)).now);
    }
    const figure = {
      name: 'idle: memory of a service that nobody uses, mongod apart',
      unit: 'MB',
      rounds: { cascade: held },
      besides: { cascade: { 'of the service alone, shared pages too': own.reduce((sum, mb) => sum + mb, 0) / ROUNDS } },
    };
    return [{ ...figure, aims: [itself(figure, 'cascade', MOST_MB, 'atMost')] }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** MB of a process (Linux); pages that several processes share count in parts. */
async function proportional(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}
