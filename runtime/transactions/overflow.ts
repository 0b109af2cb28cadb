// Overflow of the journal: long values of events and long answers of steps are stored as documents of their own, in the transaction of
// their row, since a document of the store holds 16 MB at most. Which texts overflow follows from the row alone.

import { type ClientSession, type Collection, type Db, MaxKey, MinKey } from 'mongodb';
import { PIECE, piecesOf, placesBeside } from './text-pieces.ts';
import type { Answer, RowId, Step, StoredEvent, JournalRow } from './types.ts';

export const OVERFLOW = 'journalValues';

interface Piece {
  /** `e` or `s`, and the place of the event or step in its row. */
  readonly _id: RowId & { readonly of: string; readonly n: number };
  readonly text: string;
}

const pieces = (db: Db): Collection<Piece> => db.collection<Piece>(OVERFLOW);

/** The overflow texts of a row, by their names. */
export function overflowOf({ events, steps }: Pick<JournalRow, 'events' | 'steps'>): Map<string, string> {
  const texts = [...events.map(({ value }) => value), ...steps.map(({ answer }) => textOf(answer))];
  const nameOf = (place: number): string => (place < events.length ? `e${place}` : `s${place - events.length}`);
  return new Map(placesBeside(texts).map((place) => [nameOf(place), texts[place] as string]));
}

/** Stores the overflow texts of a row; gives the row without them. */
export async function writeOverflow(db: Db, session: ClientSession, row: JournalRow): Promise<JournalRow> {
  const overflow = overflowOf(row);
  if (overflow.size === 0) return row;
  let bulk: Piece[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    if (bulk.length > 0) await pieces(db).insertMany(bulk, { session });
    bulk = [];
    length = 0;
  };
  for (const [of, text] of overflow)
    for (const [n, piece] of piecesOf(text).entries()) {
      if (length + piece.length > PIECE) await flush(); // few at a time: a command has a bound, too
      bulk.push({ _id: { ...row._id, of, n }, text: piece });
      length += piece.length;
    }
  await flush();
  return {
    ...row,
    events: row.events.map((event, index) => (overflow.has(`e${index}`) ? { ...event, value: null as never } : event)),
    steps: row.steps.map((step, index) => (overflow.has(`s${index}`) ? { ...step, answer: withText(step.answer, null as never) } : step)),
  };
}

/** An event of a stored row, with its value from the overflow. */
export async function wholeEvent(db: Db, row: RowId, index: number, event: StoredEvent): Promise<StoredEvent> {
  return event.value === null ? { ...event, value: await read(db, row, `e${index}`) } : event;
}

export async function wholeStep(db: Db, row: RowId, index: number, step: Step): Promise<Step> {
  return textOf(step.answer) === null ? { ...step, answer: withText(step.answer, await read(db, row, `s${index}`)) } : step;
}

/** A condition for the overflow texts of a range of rows of one slot. */
export const overflowRange = ({ epoch, slot }: Omit<RowId, 'seq'>, from: number, before: number) => ({
  _id: { $gte: { epoch, slot, seq: from }, $lt: { epoch, slot, seq: before } },
});

async function read(db: Db, row: RowId, of: string): Promise<string> {
  const found = await pieces(db)
    .find({ _id: { $gte: { ...row, of, n: new MinKey() }, $lte: { ...row, of, n: new MaxKey() } } as never })
    .sort({ _id: 1 })
    .toArray();
  if (found.length === 0) throw new Error(`the journal lacks a text of row ${JSON.stringify(row)}`);
  return found.map(({ text }) => text).join('');
}

const textOf = (answer: Answer): string => ('ok' in answer ? answer.ok : 'list' in answer ? answer.list : '');
const withText = (answer: Answer, text: string): Answer => ('ok' in answer ? { ok: text } : 'list' in answer ? { list: text } : answer);
