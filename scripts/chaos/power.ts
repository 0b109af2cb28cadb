// The power fails: the service and its database end at once, and what the database has written and not synced is gone, all of it or some. Then the clients are asked
// what they were promised.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { check } from './check.ts';
import { serving } from './disturb.ts';
import { openReplicaSet } from './replica-set.ts';
import { type ChaosOptions, type ChaosOutcome, outcomeOf, randomFrom } from './run.ts';
import { install, largeBulk, newLedger, work } from './workload.ts';

const BETWEEN_MS = 4_000;
/** Of what was not synced, this part is gone: disks write what they have not been told to, too, in any order. */
const PARTS_LOST = [1, 1, 0.5];

/** @param kills how often the power fails @param isUnheard the database is not heard when it syncs its journal, so that all since its last checkpoint is lost: the control */
export async function chaosOfPower(
  { kills, seed, program, onOutput, onStep = () => undefined }: ChaosOptions,
  isUnheard = false,
): Promise<ChaosOutcome> {
  using unsynced = openUnsynced(isUnheard ? 'WiredTigerLog' : null);
  await using set = await openReplicaSet({ members: 1, env: unsynced.env, ...(isUnheard && { args: ['--syncdelay', '1'] }) });
  await using service = await startService({
    args: ['--mongo', set.uri],
    expects: 'any',
    ...(program && { program }),
    ...(onOutput && { onOutput }),
  });
  const client = new RestClient(service.url, 16);
  const ledger = newLedger();
  const random = randomFrom(seed);
  const stop = new AbortController();
  try {
    await client.login(service.user, service.password);
    await install(client);
    const working = Promise.all([largeBulk(client, ledger), work(client, ledger, randomFrom(seed + 1), stop.signal)]);
    working.catch(() => undefined); // awaited below
    try {
      for (let done = 0; done < kills; done++) {
        await sleep(500 + random() * BETWEEN_MS);
        const part = PARTS_LOST[Math.floor(random() * PARTS_LOST.length)] as number;
        await Promise.all([service.kill(), set.kill()]);
        ledger.outages.begin();
        const { lost, all } = unsynced.lose(set.folder, () => random() < part);
        onStep(`${done + 1}: the power fails; ${lost} of the last ${all} writes are lost`);
        await set.launch();
        await service.restart();
        await serving(service);
      }
    } finally {
      stop.abort();
    }
    await working;
    onStep('looks at what is there');
    return outcomeOf(await check(client, ledger), kills, ledger);
  } finally {
    client.close();
  }
}

interface Unsynced extends Disposable {
  /** Of the database. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Takes back what was not synced. The database does not run.
   * @param isLost asked for each write
   */
  lose(folder: string, isLost: () => boolean): { lost: number; all: number };
}

/**
 * @param unheard files whose path contains it are never synced
 * @throws Error where there is no C compiler, or the system is another one than Linux
 */
function openUnsynced(unheard: string | null): Unsynced {
  if (process.platform !== 'linux') throw new Error('Lost writes can be tried on Linux only.');
  const folder = mkdtempSync(join(tmpdir(), 'cascade-unsynced-'));
  const library = join(folder, 'unsynced.so');
  const records = join(folder, 'records');
  try {
    const source = join(import.meta.dirname, '../../../scripts/chaos/unsynced.c');
    const here = existsSync(source) ? source : join(import.meta.dirname, 'unsynced.c');
    execFileSync('cc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', library, here, '-ldl', '-lpthread'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error('Lost writes need a C compiler (apt-get install gcc libc6-dev).', { cause: error });
  }
  return {
    env: { LD_PRELOAD: library, CASCADE_UNSYNCED: records, ...(unheard !== null && { CASCADE_SYNCS_NOTHING: unheard }) },
    lose(data, isLost) {
      const outcome = takeBack(recordsIn(readFileSync(records)), pathsIn(data), isLost);
      rmSync(records);
      return outcome;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface UnsyncedRecord {
  readonly kind: 'write' | 'sync' | 'new';
  readonly inode: bigint;
  readonly offset: number;
  /** Of the file, before it was written to. */
  readonly size: number;
  /** What was there. */
  readonly bytes: Buffer;
}

const HEAD_BYTES = 40;
const KINDS = { w: 'write', s: 'sync', n: 'new' } as const;

/** As unsynced.c writes them. The last one may be cut short: what it is of was not begun. */
export function recordsIn(all: Buffer): UnsyncedRecord[] {
  const records: UnsyncedRecord[] = [];
  for (let at = 0; at + HEAD_BYTES <= all.length; ) {
    const field = (n: number): number => Number(all.readBigUInt64LE(at + 8 * n));
    const begin = at + HEAD_BYTES;
    const end = begin + field(4);
    if (end > all.length) break;
    records.push({
      kind: KINDS[String.fromCharCode(field(0)) as keyof typeof KINDS],
      inode: all.readBigUInt64LE(at + 8),
      offset: field(2),
      size: field(3),
      bytes: all.subarray(begin, end),
    });
    at = end;
  }
  return records;
}

/** The writes since the last sync of each file, the last one first. */
export function unsyncedOf(records: readonly UnsyncedRecord[]): UnsyncedRecord[] {
  const synced = new Set<bigint>();
  return records.toReversed().filter(({ kind, inode }) => {
    if (kind !== 'write') synced.add(inode);
    return kind === 'write' && !synced.has(inode);
  });
}

function takeBack(
  records: readonly UnsyncedRecord[],
  paths: ReadonlyMap<bigint, string>,
  isLost: () => boolean,
): { lost: number; all: number } {
  const last = unsyncedOf(records);
  let lost = 0;
  for (const { inode, offset, size, bytes } of last) {
    const path = paths.get(inode);
    if (path === undefined || !isLost()) continue;
    lost++;
    const file = openSync(path, 'r+');
    try {
      if (bytes.length > 0) writeSync(file, bytes, 0, bytes.length, offset);
      if (fstatSync(file).size > size) ftruncateSync(file, size);
    } finally {
      closeSync(file);
    }
  }
  return { lost, all: last.length };
}

const pathsIn = (folder: string): Map<bigint, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? [[statSync(path, { bigint: true }).ino, path] as const] : [];
    }),
  );
