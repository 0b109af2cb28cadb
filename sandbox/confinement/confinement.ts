// Finds out, once, how far this system lets a process be shut in, and shuts in each process that is started.
import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { availableMemory } from '../../platform/about/index.ts';
import { type Arrangement, arrangements } from './arrangements.ts';
import { systemCallFilter } from './filter.ts';
import { isAtLeast, type Level } from './levels.ts';
import { findProgram, libraries } from './programs.ts';

export interface Confinement {
  readonly level: Level;
  /** By what means, in a few words. */
  readonly means: string;
  /**
   * The command line of a process that is shut in.
   * @param filterDescriptor free in the process: `filter`, when there is one, has to be written to it
   */
  command(program: string, args: readonly string[], filterDescriptor: number): { program: string; args: string[] };
  readonly filter: Buffer | null;
  /** The user that the process, which was started as root, has to become before it serves. */
  readonly user: number | null;
  /**
   * Takes from a process that has opened everything it needs the right to open anything more.
   * @param pid of what was started; the innermost process of it is meant
   * @returns the id of that process
   * @throws when this worked for the probe and does not now
   */
  shut(pid: number): Promise<number>;
}

export interface ConfinementOptions {
  /** Files and folders that the process reads its code from. */
  readable: readonly string[];
  /** The module whose libraries it needs besides those of Node. */
  nativeModule: string;
  /** Means above are not used: for tests of the weaker ones. */
  atMost?: Level;
}

const PROBE_MS = 10_000;
/** Users that systemd deals out to services that ask for one of their own, so that no account has them. */
const FIRST_DYNAMIC_USER = 61_184;
const DYNAMIC_USERS = 4_096;
/** When memory ends the sandbox goes first, and neither the service nor its database. */
const OOM_SCORE = '500';
const LEAST_DATA_BYTES = 2 * 1024 ** 3;

export async function openConfinement({ readable, nativeModule, atMost = 'filtered' }: ConfinementOptions): Promise<Confinement> {
  if (process.platform !== 'linux' || atMost === 'none') return unconfined();
  const isRoot = process.getuid?.() === 0;
  const node = process.execPath;
  const filter = systemCallFilter(process.arch);
  const paths = [node, ...readable].map((path) => [path, path] as const);
  const possible = arrangements({
    bwrap: findProgram('bwrap'),
    unshare: findProgram('unshare'),
    isRoot,
    readable: [...(await libraries(node, nativeModule)), ...paths.map(([file, path]): [string, string] => [file, path])],
    hasFilter: filter !== null,
  }).filter(({ level }) => isAtLeast(atMost, level));
  const prlimit = findProgram('prlimit');
  for (const arrangement of possible) {
    const isLimited = prlimit !== null && (arrangement.level !== 'none' || isAtLeast(atMost, 'limits'));
    const works = await probe(arrangement, node, arrangement.hasFilter ? filter : null, isLimited ? prlimit : null);
    if (!works) continue;
    const level = arrangement.level === 'none' && works.limited ? 'limits' : arrangement.level;
    const limiter = works.limited ? prlimit : null;
    return {
      level,
      means: `${arrangement.name}${limiter ? ', no new descriptors' : ''}`,
      command: arrangement.wrap,
      filter: arrangement.hasFilter ? filter : null,
      user: isRoot && !arrangement.ownUsers ? FIRST_DYNAMIC_USER + (process.pid % DYNAMIC_USERS) : null,
      shut: (pid) => shut(pid, limiter),
    };
  }
  return unconfined();
}

const unconfined = (): Confinement => ({
  level: 'none',
  means: "Node's permission model",
  command: (program, args) => ({ program, args: [...args] }),
  filter: null,
  user: null,
  shut: (pid) => Promise.resolve(pid),
});

/** Whether Node starts that way, and whether its limits can be set. It reads its script, which never comes, and so stays until it is killed. */
async function probe(
  { wrap }: Arrangement,
  node: string,
  filter: Buffer | null,
  prlimit: string | null,
): Promise<{ limited: boolean } | null> {
  const { program, args } = wrap(node, ['-e', 'process.stdout.write("up");process.stdin.resume()'], 3);
  const child = spawn(program, args, { env: {}, cwd: parse(node).root, stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_MS);
  try {
    (child.stdio[3] as NodeJS.WritableStream).end(filter ?? '');
    const isUp = await new Promise<boolean>((resolve) => {
      child.stdout?.once('data', () => resolve(true));
      child.once('error', () => resolve(false));
      child.once('close', () => resolve(false));
    });
    if (!isUp || child.pid === undefined) return null;
    const limited =
      prlimit !== null &&
      (await shut(child.pid, prlimit).then(
        () => true,
        () => false,
      ));
    return { limited };
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

async function shut(outer: number, prlimit: string | null): Promise<number> {
  const pid = innermost(outer);
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // Only an order of preference; /proc may be another's.
  }
  if (prlimit === null) return pid;
  const memory = availableMemory();
  const data = Math.max(LEAST_DATA_BYTES, Math.floor(memory / 2));
  // Descriptors that are open stay so; no further one can be made, by opening, connecting, receiving or copying.
  const limits = ['--nofile=0:0', '--core=0:0', '--memlock=0:0', '--msgqueue=0:0', `--data=${data}:${data}`];
  await new Promise<void>((resolve, reject) => {
    execFile(prlimit, ['--pid', String(pid), ...limits], { env: {} }, (error) => (error ? reject(error) : resolve()));
  });
  return pid;
}

/** The process at the end of the chain: what namespaces were made for is the only child of the only child of what was started. */
const innermost = (pid: number): number => chainOf(pid).at(-1) as number;

/** What was started, its only child, and so on. */
export function chainOf(pid: number): number[] {
  const chain = [pid];
  for (;;) {
    const last = chain.at(-1);
    let children: string;
    try {
      children = readFileSync(`/proc/${last}/task/${last}/children`, 'utf8').trim();
    } catch {
      return chain;
    }
    const [first] = children.split(' ');
    if (!first) return chain;
    chain.push(Number(first));
  }
}
