// A part of the simulated world beside the rules that all worlds have: its rules, its clients and what must be there in the end.
import type { Db, Document } from 'mongodb';
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
