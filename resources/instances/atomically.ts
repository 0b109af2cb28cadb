// Makes the changes of a built-in one unit of work, together with its result: a repetition after a crash finds all of it recorded, or
// nothing (integrations.md 12).
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
import { type Answer, DuplicateKey, type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';

/** Bound of retries against writers of other processes; those of this process queue up. */
const TRIES = 50;

/** Whether the actor's commits are collected for a unit that is committed later. */
const isBatching = (actor: Actor): boolean => 'batching' in actor;

/**
 * Carries out `change` and commits all its changes as one unit. `change` is called again when another writer has changed an instance in
 * between, so it must read anew each time. A nested call becomes part of the outer unit.
 * @param line changes of the same object queue up under this key (the id of a chat room); null where all objects are new
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
      // The program gets nothing that the change reads, so nothing counts as read by the run (language.md U7).
      const batching = { ...committing(actor, async (unit) => void gathered.push(unit), { readSet: null }), batching: true };
      const answer = { ok: encodeInner(await change(batching)) };
      if (gathered.length === 0) return answer;
      const [writes, events] = [gathered.flatMap((one) => one.writes), gathered.flatMap((one) => one.events)];
      const unit: UnitOfWork = { writes, events, logs: gathered.flatMap(({ logs }) => logs ?? []) };
      try {
        await actor.commit(unit, answer);
        return answer;
      } catch (error) {
        if (!isLostRace(error) || tries === TRIES) throw error;
        await sleep(Math.random() * 10 * tries); // random, so that writers that lost the same race do not retry together
      }
    }
  };
  return line === null || isBatching(actor) ? attempt() : inLine(space, line, attempt);
}

const isLostRace = (error: unknown): boolean => error instanceof VersionConflict || error instanceof DuplicateKey;

/**
 * Carries out a change of an object that others may change meanwhile. Who has lost a race takes a place in the object's queue, and so does who
 * comes while there is one: however many come at once, each has its turn.
 * @param line the object's key; null while it is not known, which only the first attempt tells
 * @param attempt reads anew each time
 * @param isLost whether an error says that another change came first
 */
export async function changedInTurn<T>(
  space: Namespace,
  line: () => string | null,
  attempt: () => Promise<T>,
  isLost: (error: unknown) => boolean = isLostRace,
): Promise<T> {
  const known = line();
  if (known === null || !space.states.get(LINES).has(known))
    try {
      return await attempt();
    } catch (error) {
      if (!isLost(error)) throw error;
    }
  return inLine(space, line() ?? '', async () => {
    for (let tries = 1; ; tries++)
      try {
        return await attempt();
      } catch (error) {
        if (!isLost(error) || tries === TRIES) throw error;
      }
  });
}

/** The last promise of each queue that is not empty, by key. */
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
