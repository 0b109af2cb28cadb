// Waiting for a mongod that may be recovering: after a crash it reads its journal, and applies what is missing, before it accepts connections.
// That takes as long as it takes, and one that is ended in the middle begins anew. So what counts is whether it still makes progress.
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DataFolder } from './data-folder.ts';
import { isAlive } from './processes.ts';

/** mongod reports a long recovery every 10 to 20 s. */
const SILENT_MS = 120_000;
const LOOK_EVERY_MS = 15;
const PROGRESS_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 30_000;
/** Of the end of the log, in which its last line is. */
const TAIL_BYTES = 64 * 1024;

/**
 * Waits until a mongod is up.
 * @param isThere asked again and again
 * @param silentMs how long it may make no progress: neither write to its log, nor read or write files
 * @returns whether it is; false when it ended, or made no progress for that long
 */
export async function isUp(
  pid: number,
  folder: DataFolder,
  log: Logger,
  isThere: () => Promise<boolean>,
  silentMs = SILENT_MS,
): Promise<boolean> {
  let mark = progressOf(pid, folder);
  let [lookedAt, reportedAt] = [performance.now(), performance.now()];
  const begun = lookedAt;
  let changedAt = lookedAt;
  for (; isAlive(pid); await sleep(LOOK_EVERY_MS)) {
    if (await isThere()) return true;
    const now = performance.now();
    if (now - lookedAt < Math.min(PROGRESS_EVERY_MS, silentMs / 4)) continue;
    lookedAt = now;
    const next = progressOf(pid, folder);
    if (next !== mark) changedAt = now;
    mark = next;
    if (now - changedAt > silentMs) {
      log.error({ pid }, `the database has made no progress for ${Math.round(silentMs / 1_000)} s; ending it`);
      return false;
    }
    if (now - reportedAt < REPORT_EVERY_MS) continue;
    reportedAt = now;
    log.info({ pid }, `the database is recovering since ${Math.round((now - begun) / 1_000)} s: ${lastMessage(folder.logFile)}`);
  }
  return false;
}

/** A text that changes as long as it does something: the size of its log, when its files were written, and what it has read and written. */
function progressOf(pid: number, folder: DataFolder): string {
  const parts: unknown[] = [sizeOf(folder.logFile)];
  for (const name of ['', 'journal'])
    try {
      const inside = join(folder.database, name);
      for (const file of readdirSync(inside)) {
        const { size, mtimeMs } = statSync(join(inside, file));
        parts.push(file, size, mtimeMs);
      }
    } catch {
      // not there yet, or a file has gone in between: seen at the next look
    }
  try {
    parts.push(/^rchar: \d+\nwchar: \d+/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[0]);
  } catch {
    // told by Linux alone
  }
  return parts.join(' ');
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** What mongod wrote last to its log, as a sentence. */
function lastMessage(file: string): string {
  try {
    const handle = openSync(file, 'r');
    try {
      const { size } = fstatSync(handle);
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(handle, tail, 0, tail.length, size - tail.length);
      const { msg, attr } = JSON.parse(tail.toString('utf8').trimEnd().split('\n').at(-1) ?? '') as {
        msg: string;
        attr?: { message?: unknown };
      };
      return typeof attr?.message === 'string' ? attr.message : msg;
    } finally {
      closeSync(handle);
    }
  } catch {
    return 'it says nothing'; // no log yet, or a line that is being written
  }
}

/** What mongod writes first when it starts on a log that is there. */
const RESTARTED = 'SERVER RESTARTED';
const MOST_ERRORS = 3;

/** The first errors since mongod was started last, as sentences: those behind them follow from them. */
export function lastErrors(logFile: string): string {
  let text: string;
  try {
    text = readFileSync(logFile, 'utf8');
  } catch {
    return 'it left no log';
  }
  const errors = text
    .slice(text.lastIndexOf(RESTARTED) + 1)
    .split('\n')
    .flatMap(errorIn);
  return [...new Set(errors)].slice(0, MOST_ERRORS).join('; ') || 'it gave no reason';
}

/** A line may be cut off, empty, or the text of a library of mongod's. */
function errorIn(line: string): string[] {
  if (!/"s":"[EF]"/.test(line)) return [];
  try {
    const { msg, attr } = JSON.parse(line) as { msg: string; attr?: { error?: unknown; message?: { msg?: unknown } } };
    const detail = attr?.message?.msg ?? attr?.error;
    return [detail === undefined ? msg.trim() : `${msg.trim()} ${JSON.stringify(detail)}`];
  } catch {
    return [];
  }
}
