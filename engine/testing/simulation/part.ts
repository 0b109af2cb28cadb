// A part of the simulated world beside the rules that all worlds have: its rules, its clients and what must be there in the end.
import type { Db, Document } from 'mongodb';
import { CascadeError } from '../../../stdlib/errors.ts';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import type { Program } from './sandbox.ts';
import type { Rule, SimulatedService } from './service.ts';
import type { SimulatedStore } from './store.ts';

/** What a client does by one of the services, which may be dead by then. */
export type Task = (service: SimulatedService) => void;

export interface Part {
  readonly rules?: readonly Rule[];
  readonly procedures?: Readonly<Record<string, Program>>;
  readonly topics?: Readonly<Record<string, ObjectValue>>;
  /** What the store has from the beginning. */
  furnish?(db: Db): Promise<unknown>[];
  /** @param serving one that serves; null: none does */
  tasks?(serving: () => SimulatedService | null): Task[];
  /** What will still happen by itself, and which clients wait. */
  unfinished?(store: SimulatedStore): string[];
  /** What is wrong at the end. */
  wrong(store: SimulatedStore): string[];
}

/** How often each text is there. */
export function countedBy(rows: readonly Document[], textOf: (row: Document) => string): Map<string, number> {
  const counted = new Map<string, number>();
  for (const row of rows) counted.set(textOf(row), (counted.get(textOf(row)) ?? 0) + 1);
  return counted;
}

export const unheard = (work: Promise<unknown>): void => void work.catch(() => undefined);

/** A client that has heard nothing for so long looks whom else it can ask; one that was refused asks again after a pause. */
const PATIENCE_MS = 2_000;
const PAUSE_MS = 100;

/**
 * Asks until it is done: again when it was refused, or when who was asked does not serve any more. What that one had begun is done by the time when
 * another one serves, or never.
 * @param isDone whether this refusal says that it has been done before
 */
export async function untilDone(
  serving: () => SimulatedService | null,
  ask: (service: SimulatedService) => Promise<unknown>,
  isDone: (error: unknown) => boolean,
): Promise<void> {
  for (;;) {
    const service = serving();
    if (!service) {
      await pause(PATIENCE_MS, null);
      continue;
    }
    const answer = ask(service).then(
      () => true,
      (error: unknown) => isDone(error) || pause(PAUSE_MS, false),
    );
    for (;;) {
      const received = await Promise.race([answer, pause(PATIENCE_MS, null)]);
      if (received === true) return;
      if (received === false || serving() !== service) break;
    }
  }
}

const pause = <T>(ms: number, value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, value));

export const isGone = (error: unknown): boolean => error instanceof CascadeError && error.code === 'cascade.resource.not.found';
export const isThere = (error: unknown): boolean => error instanceof CascadeError && error.code === 'cascade.resource.duplicate.key';
