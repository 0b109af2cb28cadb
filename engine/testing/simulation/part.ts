// An optional part of the simulated world: its rules, its clients and its expectations for the end.
import type { Db, Document } from 'mongodb';
import { CascadeError } from '../../../stdlib/errors.ts';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import type { Program } from './sandbox.ts';
import type { Rule, SimulatedService } from './service.ts';
import type { SimulatedStore } from './store/index.ts';

/** An operation of a client at one of the services, which may be dead by then. */
export type Task = (service: SimulatedService) => void;

export interface Part {
  readonly rules?: readonly Rule[];
  readonly procedures?: Readonly<Record<string, Program>>;
  readonly topics?: Readonly<Record<string, ObjectValue>>;
  /** The initial content of the store. */
  furnish?(db: Db): Promise<unknown>[];
  /** @param serving gives a service that serves; null: none does */
  tasks?(serving: () => SimulatedService | null): Task[];
  /** Work that will still happen by itself, and clients that wait. */
  unfinished?(store: SimulatedStore): string[];
  /** Violations at the end. */
  wrong(store: SimulatedStore): string[];
}

/** The number of rows by text. */
export function countedBy(rows: readonly Document[], textOf: (row: Document) => string): Map<string, number> {
  const counted = new Map<string, number>();
  for (const row of rows) counted.set(textOf(row), (counted.get(textOf(row)) ?? 0) + 1);
  return counted;
}

export const unheard = (work: Promise<unknown>): void => void work.catch(() => undefined);

/** Time without an answer after which a client tries another service, and pause before it repeats a refused request. */
const PATIENCE_MS = 2_000;
const PAUSE_MS = 100;

/**
 * Repeats a request until it succeeds: after a refusal, or when its service does not serve any more. Work that had begun there is done by
 * the time another service serves, or never.
 * @param isDone whether a refusal means that an earlier attempt has succeeded
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
