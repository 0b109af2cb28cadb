// Several changes as one: a built-in that makes them does so in one unit, with what the program gets for it: a repetition after a crash finds all
// of it in the record, or nothing (integrations.md 12).
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { type Answer, DuplicateKey, type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';

/** Tries against writers of other processes; those of this one wait in line. */
const TRIES = 50;

/** One whose commits are gathered for a unit that is committed later. */
interface BatchingActor extends Actor {
  readonly batching: true;
}
const isBatching = (actor: Actor): actor is BatchingActor => 'gathering' in actor;

/**
 * Carries out `change` and commits all that it changes as one. What it reads it must read anew each time it is called: a change by
 * somebody else in between means that it is called again.
 * Within another such change it becomes a part of that one.
 * @param line those who change the same thing go one after the other (the id of a chat room); null where all is new
 */
export async function atomically(
  space: Namespace,
  line: string | null,
  actor: Actor,
  change: (batching: Actor) => Promise<Value>,
): Promise<Answer> {
  const attempt = async (): Promise<Answer> => {
    for (let tries = 1; ; tries++) {
      const gathered: UnitOfWork[] = [];
      // Nothing of what it reads is handed to the program, so nothing of it counts as read by the run (language.md U7).
      const batching: BatchingActor = { ...actor, readSet: null, batching: true, commit: async (unit) => void gathered.push(unit) };
      const answer = { ok: encodeInner(await change(batching)) };
      if (gathered.length === 0) return answer;
      const [writes, events] = [gathered.flatMap((one) => one.writes), gathered.flatMap((one) => one.events)];
      const unit: UnitOfWork = { writes, events, logs: gathered.flatMap(({ logs }) => logs ?? []) };
      try {
        await actor.commit(unit, answer);
        return answer;
      } catch (error) {
        if (!(error instanceof VersionConflict || error instanceof DuplicateKey) || tries === TRIES) throw error;
        await sleep(Math.random() * 10 * tries); // random: not at the same moment as the others that lost the race
      }
    }
  };
  return line === null || isBatching(actor) ? attempt() : inLine(space, line, attempt);
}

/** By name the end of each line that is not empty. */
const LINES = new StateKey<Map<string, Promise<unknown>>>('lines of changes', () => new Map());

async function inLine<T>(space: Namespace, name: string, work: () => Promise<T>): Promise<T> {
  const own = space.states.get(LINES);
  const before = own.get(name);
  const mine = before ? before.then(work, work) : work();
  own.set(name, mine);
  try {
    return await mine;
  } finally {
    if (own.get(name) === mine) own.delete(name);
  }
}
