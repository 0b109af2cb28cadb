// Reads the CPU time that the processes of a service have used so far, from Linux's /proc.
import { readFile } from 'node:fs/promises';

/** CPU seconds; `service` is its own process, `load` the one that sends the load. */
export type CpuSeconds = Readonly<Record<'service' | 'sandbox' | 'mongod' | 'load', number>>;

const TICKS_A_SECOND = 100;

/** The CPU times; null where there is no /proc. @param pid the process of the service */
export async function cpuOf(pid: number): Promise<CpuSeconds | null> {
  const own = await statOf(pid);
  if (!own) return null;
  const sums = { service: own.seconds, sandbox: 0, mongod: 0 };
  for (const child of await descendantsOf(pid)) {
    const stat = await statOf(child);
    if (stat) sums[stat.name.startsWith('mongod') ? 'mongod' : 'sandbox'] += stat.seconds;
  }
  const { user, system } = process.cpuUsage();
  return { ...sums, load: (user + system) / 1e6 };
}

export const cpuBetween = (before: CpuSeconds | null, after: CpuSeconds | null): CpuSeconds | null =>
  before &&
  after && {
    service: after.service - before.service,
    sandbox: after.sandbox - before.sandbox,
    mongod: after.mongod - before.mongod,
    load: after.load - before.load,
  };

async function statOf(pid: number): Promise<{ name: string; seconds: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null); // the process has ended meanwhile, or this is not Linux
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  return { name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), seconds: ticks / TICKS_A_SECOND };
}

async function descendantsOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
}
