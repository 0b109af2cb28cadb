// `cascade test`: runs the tests of a project, in the format of the conformance suite, against a service of their own whose clock jumps:
// thirty days take no time here.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { RestClient } from '../../case-runner/client/index.ts';
import { type CaseFile, type Pace, readCaseFile, runSuite } from '../../case-runner/runner/index.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import { openService, type Service } from '../service.ts';
import { readSource, type Terminal, UsageError } from './terminal.ts';

const LONGEST_PAUSE_MS = 25;
/** Default wait for an expected state, in real time. */
const PATIENCE_MS = 8_000;

export interface TestOptions {
  /** The time at which the clock starts; the present when absent. */
  readonly at?: string;
}

/** @returns 0 when every case passed, else 1 */
export async function testFiles(paths: readonly string[], options: TestOptions, terminal: Terminal): Promise<number> {
  const files = await Promise.all((await Promise.all(paths.map(filesOf))).flat().map(readTests));
  const clock = new VirtualClock(startOf(options.at));
  const dataDir = await mkdtemp(join(tmpdir(), 'cascade-test-'));
  const password = randomBytes(16).toString('hex');
  try {
    await using service = await openService(
      {
        dataDir,
        host: '127.0.0.1',
        port: 0,
        clock,
        lanes: 1,
        firstStart: { adminPassword: password, systemPassword: password },
        announce: () => undefined,
      },
      pino({ level: 'silent' }),
    );
    const client = new RestClient(service.url);
    try {
      await client.login('admin', password);
      const { passed, failed } = await runSuite(client, files, new Map(), (line) => terminal.out(`${line}\n`), paceOf(clock, service));
      terminal.out(`${passed} passed, ${failed.length} failed\n`);
      return failed.length === 0 ? 0 : 1;
    } finally {
      client.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const paceOf = (clock: VirtualClock, service: Service): Pace => {
  const advance = (ms: number): Promise<void> => clock.advanceTo(clock.now() + ms, () => service.settled());
  return {
    advance,
    // Some expected states take real time, as logs do; the clock jumps to the others meanwhile.
    pause: async (ms) => {
      await advance(ms);
      await sleep(Math.min(ms, LONGEST_PAUSE_MS));
    },
    patienceMs: PATIENCE_MS,
  };
};

/** A file itself, or the .yaml files in a folder, at every depth. */
async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => {
    throw new UsageError(`${path} cannot be read.`);
  });
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path, { recursive: true })).filter((name) => /\.ya?ml$/.test(name)).sort();
  if (names.length === 0) throw new UsageError(`${path} holds no .yaml files.`);
  return names.map((name) => join(path, name));
}

/** @throws UsageError that names the invalid place of the file */
async function readTests(file: string): Promise<CaseFile> {
  const text = await readSource(file);
  try {
    return readCaseFile(file, text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function startOf(at: string | undefined): number {
  if (at === undefined) return Date.now();
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) throw new UsageError(`'${at}' is no time: write it as 2026-01-31T12:00:00Z.`);
  return ms;
}
