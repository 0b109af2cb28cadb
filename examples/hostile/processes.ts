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

interface Row extends Taken {
  readonly name: string;
  readonly parent: number;
}

/** @param pid of the service */
export function takenBy(pid: number): Record<Part, Taken> {
  const rows = all();
  const sum: Record<Part, Taken> = { service: { mb: 0, seconds: 0 }, mongod: { mb: 0, seconds: 0 }, sandbox: { mb: 0, seconds: 0 } };
  for (const [id, row] of rows) {
    if (!isBelow(rows, id, pid)) continue;
    const part = id === pid ? 'service' : row.name === 'mongod' ? 'mongod' : 'sandbox';
    sum[part] = { mb: sum[part].mb + row.mb, seconds: sum[part].seconds + row.seconds };
  }
  return sum;
}

function isBelow(rows: ReadonlyMap<number, Row>, id: number, ancestor: number): boolean {
  for (let at: number | undefined = id; at !== undefined; at = rows.get(at)?.parent) if (at === ancestor) return true;
  return false;
}

function all(): Map<number, Row> {
  const rows = new Map<number, Row>();
  for (const id of readdirSync('/proc'))
    if (/^\d+$/.test(id)) {
      const row = read(id);
      if (row) rows.set(Number(id), row);
    }
  return rows;
}

/** proc(5): `pid (name) state ppid … utime stime … rss`; the name may hold anything. */
function read(id: string): Row | null {
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
    parent: number(1),
    seconds: ((number(11) + number(12)) * TICK_MS) / 1_000,
    mb: (number(21) * PAGE_BYTES) / 1024 / 1024,
  };
}
