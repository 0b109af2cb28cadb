// What dead processes left open in a namespace's journal: events whose runs are not marked done, and the recorded
// steps of those runs. Reading changes nothing; a dead epoch is closed first, so that no late tick of it can commit.

import { type Db, type MongoClient, MongoServerError } from 'mongodb';
import { runIdOf } from './journal.ts';
import { attemptOf, type RunId, type Step, type StoredEvent, type TickRow } from './types.ts';

const DUPLICATE = 11000;

export interface LeftOpen {
  /** Each with the runs that are still open, in the order of their commits. */
  readonly events: readonly StoredEvent[];
  readonly steps: ReadonlyMap<RunId, readonly Step[]>;
}

/** Ends the epochs for good: from here on no tick of theirs can commit. */
export async function closeEpochs(db: Db, epochs: readonly number[], slots: number): Promise<void> {
  const journal = db.collection<TickRow>('journal');
  for (const epoch of epochs)
    for (let slot = 0; slot < slots; slot++)
      for (;;) {
        const [last] = await journal
          .find({ _id: { $gte: { epoch, slot, seq: 0 }, $lt: { epoch, slot: slot + 1, seq: 0 } } })
          .sort({ _id: -1 })
          .limit(1)
          .toArray();
        if (last?.closed) break;
        try {
          const seq = last ? last._id.seq + 1 : 0;
          await journal.insertOne({
            _id: { epoch, slot, seq },
            order: Number.MAX_SAFE_INTEGER,
            events: [],
            steps: [],
            done: [],
            closed: true,
          });
          break;
        } catch (error) {
          if (!(error instanceof MongoServerError && error.code === DUPLICATE)) throw error; // its tick came first: look again
        }
      }
}

/** Reads what the epochs left open. An event that stands in two epochs' rows (a take-over was interrupted) counts once. */
export async function readLeftOpen(db: Db, epochs: readonly number[]): Promise<LeftOpen> {
  const done = new Set<RunId>();
  const events = new Map<string, StoredEvent>();
  const steps = new Map<RunId, Step[]>();
  const rows: TickRow[] = [];
  for (const epoch of epochs) rows.push(...(await db.collection<TickRow>('journal').find(rowsOf(epoch)).toArray()));
  rows.sort((a, b) => a._id.epoch - b._id.epoch || a.order - b.order);
  for (const row of rows) {
    for (const run of row.done) done.add(run);
    for (const event of row.events) events.set(`${event.uuid}/${attemptOf(event)}`, event);
    for (const step of row.steps) {
      const known = steps.get(step.run);
      if (known) known.push(step);
      else steps.set(step.run, [step]);
    }
  }
  const open: StoredEvent[] = [];
  for (const event of events.values()) {
    const runs = event.runs.filter((run) => !done.has(runIdOf(event, run.rule)));
    if (runs.length > 0) open.push({ ...event, value: event.value ?? (await valueAside(db, event.uuid)), runs });
  }
  // Steps of children stand under ids that begin with their parent's; steps of what is done are of no use.
  const isOpen = new Set(open.flatMap((event) => event.runs.map((run) => runIdOf(event, run.rule))));
  for (const run of steps.keys()) if (!isOpen.has(run.split('/').slice(0, 3).join('/'))) steps.delete(run);
  return { events: open, steps };
}

/** Removes the epochs' rows once what they left open stands in rows of this process: all at once, so that no mark goes before its event. */
export async function removeRows(client: MongoClient, db: Db, epochs: readonly number[]): Promise<void> {
  if (epochs.length === 0) return;
  await client.withSession((session) =>
    session.withTransaction(async () => {
      for (const epoch of epochs)
        await db.collection<TickRow>('journal').deleteMany({ ...rowsOf(epoch), closed: { $ne: true } }, { session });
    }),
  );
}

const rowsOf = (epoch: number) => ({ _id: { $gte: { epoch, slot: 0, seq: 0 }, $lt: { epoch: epoch + 1, slot: 0, seq: 0 } } });

async function valueAside(db: Db, uuid: string): Promise<string> {
  const found = await db.collection<{ _id: string; value: string }>('journalValues').findOne({ _id: uuid });
  if (!found) throw new Error(`the journal lacks the value of event ${uuid}`);
  return found.value;
}
