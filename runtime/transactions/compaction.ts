// Compaction of the journal: a run that is open for long (it waits for a source, a lock, another service) would pin all later rows. Its
// events and steps are copied into new rows, so that the old ones can be removed (mechanisms a.6).

import type { Db, Document } from 'mongodb';
import type { Cipher } from '../../model/types/index.ts';
import { wholeEvent, wholeStep } from './overflow.ts';
import { runIdOf } from './journal.ts';
import { rowOf, type StoredRow } from './row-form.ts';
import { opening, withEventTexts, withStepTexts } from './sealing.ts';
import { type Answer, type RowId, type RunId, rootOf, type Step, type StoredEvent, type UnitOfWork } from './types.ts';

/** Events and steps that the journal holds of open runs. */
export interface OpenRecords {
  readonly events: readonly StoredEvent[];
  readonly steps: readonly Step[];
}

/** Bound of one row; long texts are in the overflow collection anyway. */
const MOST_CHARACTERS = 4_000_000;
const MOST_ITEMS = 1_000;
const ROWS_AT_ONCE = 1_000;
/** Bound of one compaction. */
const MOST_COPIED = 32_000_000;

/** Reads copies of what these rows hold of these runs; events keep their order. */
export async function readHeld(db: Db, places: readonly RowId[], runs: ReadonlySet<RunId>, cipher: Cipher | null): Promise<OpenRecords> {
  const parts: OpenRecords[] = [];
  for (let from = 0; from < places.length; from += ROWS_AT_ONCE)
    parts.push(await readRows(db, places.slice(from, from + ROWS_AT_ONCE), runs, cipher));
  return { events: parts.flatMap(({ events }) => events), steps: parts.flatMap(({ steps }) => steps) };
}

async function readRows(db: Db, places: readonly RowId[], runs: ReadonlySet<RunId>, cipher: Cipher | null): Promise<OpenRecords> {
  const opened = opening(cipher);
  const rows = db.collection<StoredRow>('journal').find({ _id: { $in: places } } as Document);
  const events: StoredEvent[] = [];
  const steps: Step[] = [];
  for await (const stored of rows.sort({ order: 1 }).allowDiskUse()) {
    const { _id: row, order, ...held } = rowOf(stored);
    for (const [index, event] of held.events.entries()) {
      const open = event.runs.filter(({ rule }) => runs.has(runIdOf(event, rule)));
      if (open.length === 0) continue;
      const whole = withEventTexts(await wholeEvent(db, row, index, event), opened);
      events.push({ ...whole, runs: open, order: event.order ?? order });
    }
    for (const [index, step] of held.steps.entries())
      if (runs.has(rootOf(step.run))) steps.push(withStepTexts(await wholeStep(db, row, index, step), opened));
  }
  return { events, steps };
}

/**
 * The units that store the copies, for the runs that are still open; null when that is not worth it.
 * @param most copies are made of at most that many events and steps
 */
export function compactionUnits({ events, steps }: OpenRecords, isOpen: (run: RunId) => boolean, most: number): UnitOfWork[] | null {
  const open = events.flatMap((event) => {
    const runs = event.runs.filter(({ rule }) => isOpen(runIdOf(event, rule)));
    return runs.length > 0 ? [{ ...event, runs }] : [];
  });
  const theirs = steps.filter(({ run }) => isOpen(rootOf(run)));
  const items = [...open, ...theirs];
  if (items.length > most || items.reduce((sum, item) => sum + charactersOf(item), 0) > MOST_COPIED) return null;
  return inPieces(items).flatMap((piece): UnitOfWork[] => {
    const unit = { events: piece.filter((item) => 'uuid' in item), steps: piece.filter((item) => 'run' in item) };
    return piece.length > 0 ? [{ writes: [], ...unit, isCompaction: true }] : [];
  });
}

/** Splits events and steps into pieces of at most one row each, in order; at least one piece. */
export function inPieces<T extends StoredEvent | Step>(items: readonly T[]): (readonly T[])[] {
  const pieces: T[][] = [[]];
  let here = 0;
  for (const item of items) {
    const characters = charactersOf(item);
    const last = pieces[pieces.length - 1] as T[];
    const isFull = last.length >= MOST_ITEMS || (last.length > 0 && here + characters > MOST_CHARACTERS);
    here = isFull ? characters : here + characters;
    if (isFull) pieces.push([item]);
    else last.push(item);
  }
  return pieces;
}

const charactersOf = (item: StoredEvent | Step): number =>
  'uuid' in item ? item.value.length : item.reads.reduce((sum, read) => sum + lengthOf(read.answer), lengthOf(item.answer));

const lengthOf = (answer: Answer): number => ('ok' in answer ? answer.ok.length : 'list' in answer ? answer.list.length : 0);
