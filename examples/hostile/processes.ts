// What the processes of a service take: the service itself, its database, and those of the sandbox (Linux).
import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4_096;
const TICK_MS = 10;

export type Part = 'service' | 'mongod' | 'sandbox';

/** Resident MB, and processor seconds since the start. */
export interface Taken {
  readonly mb: number;
  readonly seconds: number;
}

/** @param pid of the service; only what is below it is read, since whoever asks may be measuring something at the same time */
export function takenBy(pid: number): Record<Part, Taken> {
  const sum: Record<Part, Taken> = { service: { mb: 0, seconds: 0 }, mongod: { mb: 0, seconds: 0 }, sandbox: { mb: 0, seconds: 0 } };
  const left = [pid];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const row = read(id);
    if (!row) continue;
    const part = id === pid ? 'service' : row.name === 'mongod' ? 'mongod' : 'sandbox';
    sum[part] = { mb: sum[part].mb + row.mb, seconds: sum[part].seconds + row.seconds };
    left.push(...childrenOf(id));
  }
  return sum;
}

/** Those that its threads have started. */
function childrenOf(id: number): number[] {
  try {
    const threads = readdirSync(`/proc/${id}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${id}/task/${thread}/children`, 'latin1'));
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  } catch {
    return []; // it has ended
  }
}

/** proc(5): `pid (name) state … utime stime … rss`; the name may hold anything. */
function read(id: number): (Taken & { readonly name: string }) | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${id}/stat`, 'latin1');
  } catch {
    return null; // it has ended
  }
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const number = (index: number): number => Number(fields[index]);
  return {
    name: text.slice(text.indexOf('(') + 1, close),
    seconds: ((number(11) + number(12)) * TICK_MS) / 1_000,
    mb: (number(21) * PAGE_BYTES) / 1024 / 1024,
  };
}
