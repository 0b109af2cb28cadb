// Reads what dead processes left unfinished in a namespace's journal: events whose runs have no completion mark, with the recorded steps of
// those runs. Reading changes nothing; dead epochs are closed first, so that no late batch of theirs can commit.

import { type Db, type MongoClient, MongoServerError } from 'mongodb';
import { wholeEvent, wholeStep } from './overflow.ts';
import type { Cipher } from '../../model/types/index.ts';
import { runIdOf } from './journal.ts';
import { removeRange } from './removal.ts';
import { EMPTY, rowOf, runsIn, type StoredRow } from './row-form.ts';
import { opening, withEventTexts, withStepTexts } from './sealing.ts';
import { attemptOf, type RowId, rootOf, type RunId, type RunReference, type Step, type StoredEvent } from './types.ts';

const DUPLICATE = 11000;
/** For a day a process that stood still finds the row that closed its epoch, and is fenced by it. */
const ENDS_KEPT_MS = 86_400_000;

export interface UnfinishedRuns {
  /** Events with the runs that are still open, in the order of their commits. */
  readonly events: readonly StoredEvent[];
  readonly steps: ReadonlyMap<RunId, readonly Step[]>;
}

/**
 * Closes the epochs for good: no batch of theirs can commit any more.
 * @returns the second of the newest `_id` that their processes had given with a batch; 0: there was none
 */
export async function closeEpochs(db: Db, epochs: readonly number[], slots: number, nowMs: number): Promise<number> {
  const journal = db.collection<StoredRow>('journal');
  let newest = 0;
  for (const epoch of epochs)
    for (let slot = 0; slot < slots; slot++)
      for (;;) {
        const [last] = await journal.find(rowsOfSlot(epoch, slot)).sort({ _id: -1 }).limit(1).toArray();
        newest = Math.max(newest, last?.idSecond ?? 0);
        if (last?.closed) break;
        try {
          const seq = last ? last._id.seq + 1 : 0;
          await journal.insertOne({
            _id: { epoch, slot, seq },
            order: Number.MAX_SAFE_INTEGER,
            ...EMPTY,
            closed: true,
            closedAt: new Date(nowMs),
            ...(last?.idSecond && { idSecond: last.idSecond }),
          });
          break;
        } catch (error) {
          if (!(error instanceof MongoServerError && error.code === DUPLICATE)) throw error; // its batch won the place: look again
        }
      }
  return newest;
}

/** Other epochs that have rows here and are not closed. @param isWanted asked for each */
export async function openEpochs(db: Db, isWanted: (epoch: number) => boolean | Promise<boolean>): Promise<number[]> {
  const found: unknown[] = await db.collection('journal').distinct('_id.epoch', { closed: { $ne: true } });
  const wanted: number[] = [];
  for (const epoch of found.map(Number)) if (await isWanted(epoch)) wanted.push(epoch);
  return wanted.sort((a, b) => a - b);
}

/** The rules, with their programs, that events in any process's rows name, whether or not their runs have ended. */
export async function* referencesIn(db: Db): AsyncIterable<RunReference> {
  const rows = db.collection<StoredRow>('journal').find({ 'heads.0': { $exists: true } }, { projection: { heads: 1 } });
  for await (const { heads } of rows) for (const { runs } of heads) yield* referencesOf(runs);
}

/** The references, and those of the versions that run when they do not. */
export function* referencesOf(runs: readonly RunReference[]): Iterable<RunReference> {
  for (const reference of runs) for (let one: RunReference | null = reference; one; one = one.asks?.next ?? null) yield one;
}

/**
 * Reads the unfinished runs of the epochs, a row at a time. An event that stands in rows of two epochs (a take-over was interrupted) counts
 * once.
 * @param cipher opens the texts of rows; null where the namespace has no key
 */
export async function readUnfinished(db: Db, epochs: readonly number[], cipher: Cipher | null = null): Promise<UnfinishedRuns> {
  const opened = opening(cipher);
  const done = await readEnded(db, epochs);
  const events = new Map<string, Place[]>();
  const steps = new Map<RunId, { row: RowId; order: number; index: number; step: Step }[]>();
  for (const epoch of [...epochs].sort((a, b) => a - b))
    for await (const stored of db.collection<StoredRow>('journal').find(rowsOf(epoch)).sort({ order: 1 }).allowDiskUse()) {
      const { _id: row, order, ...held } = rowOf(stored);
      for (const [index, event] of held.events.entries()) {
        if (event.runs.every(({ rule }) => done.has(runIdOf(event, rule)))) continue;
        const key = `${event.uuid}/${attemptOf(event)}`;
        const place = { row, order, index, event, among: event.order ?? order };
        const known = events.get(key);
        if (known) known.push(place);
        else events.set(key, [place]);
      }
      for (const [index, step] of held.steps.entries()) {
        if (done.has(rootOf(step.run))) continue;
        const known = steps.get(step.run);
        if (known) known.push({ row, order, index, step });
        else steps.set(step.run, [{ row, order, index, step }]);
      }
    }
  // Read last: a process that only stood still may go on removing rows meanwhile, and each removal comes after its mark.
  const lows = await readLows(db, epochs);
  const isVoid = ({ row, order }: { row: RowId; order: number }): boolean => order < (lows.get(Number(row.epoch)) ?? 0);
  // Void rows do not count in any epoch: the process that has taken over may have an older epoch, or a younger one.
  const standing = [...events.values()].map((places) => places.filter((one) => !isVoid(one))).filter((places) => places.length > 0);
  const firstOf = ([first]: Place[]): Place => first as Place;
  standing.sort((a, b) => Number(firstOf(a).row.epoch) - Number(firstOf(b).row.epoch) || firstOf(a).among - firstOf(b).among);
  const open: StoredEvent[] = [];
  for (const places of standing) {
    const { row, index, event: found } = places[places.length - 1] as Place;
    const { order: _, ...event } = found;
    const runs = event.runs.filter((run) => !done.has(runIdOf(event, run.rule)));
    if (runs.length > 0) open.push({ ...withEventTexts(await wholeEvent(db, row, index, event), opened), runs });
  }
  // Ids of children's steps begin with their parent's id; steps of ended runs are left out.
  const isOpen = new Set(open.flatMap((event) => event.runs.map((run) => runIdOf(event, run.rule))));
  const whole = new Map<RunId, Step[]>();
  for (const [run, all] of steps) {
    if (!isOpen.has(rootOf(run))) continue;
    const found = all.filter((one) => !isVoid(one));
    const last = new Map(found.map((one) => [`${one.step.site}.${one.step.nth}`, one])); // each once: it may stand in two epochs' rows
    const read = [...last.values()].map(async ({ row, index, step }) => withStepTexts(await wholeStep(db, row, index, step), opened));
    whole.set(run, await Promise.all(read));
  }
  return { events: open, steps: whole };
}

/** Position of an event in the journal. */
interface Place {
  readonly row: RowId;
  readonly order: number;
  /** Index within the row. */
  readonly index: number;
  readonly event: StoredEvent;
  /** Index among the events of its epoch. */
  readonly among: number;
}

/** The low-water marks of the epochs. */
async function readLows(db: Db, epochs: readonly number[]): Promise<Map<number, number>> {
  const lows = new Map<number, number>();
  for (const epoch of epochs) {
    const marked = db.collection<StoredRow>('journal').find({ ...rowsOf(epoch), low: { $gt: 0 } }, { projection: { low: 1 } });
    for await (const { low } of marked) lows.set(epoch, Math.max(lows.get(epoch) ?? 0, Number(low)));
  }
  return lows;
}

/**
 * The runs that have ended. They are read before the events: a process that only stood still may come back meanwhile and remove rows, and
 * an event that is read after that must not lack its completion marks.
 */
async function readEnded(db: Db, epochs: readonly number[]): Promise<Set<RunId>> {
  const ended = new Set<RunId>();
  for (const epoch of epochs) {
    const rows = db.collection<StoredRow>('journal').find({ ...rowsOf(epoch), done: { $ne: [] } }, { projection: { done: 1 } });
    for await (const { done } of rows) for (const run of runsIn(done)) ended.add(run);
  }
  return ended;
}

/**
 * Removes the epochs' rows once this process's rows hold what they left unfinished. One small transaction declares all of them void, so
 * that no mark goes before its event; then they go in pieces. The closing row of each slot stays, and the place before it: a process that
 * comes back may not know that its last batch was committed, and must not find that place free.
 */
export async function removeRows(client: MongoClient, db: Db, epochs: readonly number[], nowMs: number): Promise<void> {
  if (epochs.length === 0) return;
  const journal = db.collection<StoredRow>('journal');
  // The last closed row of each slot: the place before it is closed, too, if an earlier try came that far.
  const last = new Map<string, RowId>();
  for (const epoch of epochs)
    for (const { _id } of await journal
      .find({ ...rowsOf(epoch), closed: true })
      .sort({ _id: 1 })
      .toArray())
      last.set(`${_id.epoch} ${_id.slot}`, _id);
  const ends = [...last.values()];
  const low = Number.MAX_SAFE_INTEGER;
  const voided = ends.map((_id) => ({ updateOne: { filter: { _id }, update: { $set: { low } } } }));
  await client.withSession((session) =>
    session.withTransaction(async () => {
      if (voided.length > 0) await journal.bulkWrite(voided, { session });
    }),
  );
  for (const { epoch, slot, seq } of ends) {
    const before = { epoch, slot, seq: seq - 1 };
    await journal.updateOne({ _id: before }, { $set: { ...EMPTY, closed: true, closedAt: new Date(nowMs), low } });
    const left = { ...rowsOfSlot(epoch, slot), closed: { $ne: true } };
    const [first] = await journal.find(left).sort({ _id: 1 }).limit(1).toArray();
    if (first) await removeRange(db, { epoch, slot }, Number(first._id.seq), seq);
  }
}

/** Removes closing rows after a day. A process that stood still for longer finds its lease expired before it stores anything. */
export async function removeOldEnds(db: Db, nowMs: number): Promise<void> {
  await db.collection<StoredRow>('journal').deleteMany({ closed: true, closedAt: { $lt: new Date(nowMs - ENDS_KEPT_MS) } });
}

const rowsOfSlot = (epoch: number, slot: number) => ({ _id: { $gte: { epoch, slot, seq: 0 }, $lt: { epoch, slot: slot + 1, seq: 0 } } });
const rowsOf = (epoch: number) => ({ _id: { $gte: { epoch, slot: 0, seq: 0 }, $lt: { epoch: epoch + 1, slot: 0, seq: 0 } } });
