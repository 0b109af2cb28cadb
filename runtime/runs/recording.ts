// A run as it went: what started it and what it was answered, in order. Its last attempt counts; one that asks for very much is not kept.

import type { Answer, StoredEvent } from '../commit/index.ts';
import type { Executable, RunError } from './types.ts';

/** Characters of all requests and answers of a run. */
const MOST = 256 * 1024;

/** One request of a run and its answer. */
export interface RecordedStep {
  readonly site: string;
  readonly nth: number;
  readonly kind: string;
  readonly payload: string;
  readonly answer: Answer;
  /** What now() gave from here on, milliseconds since the epoch. */
  readonly at: number;
}

export interface Recording {
  /** The invocation, as the logs and snapshots name it. */
  readonly invocation: string;
  readonly run: string;
  readonly executable: Executable;
  readonly event: StoredEvent;
  readonly binds: string;
  readonly startedAt: number;
  readonly steps: readonly RecordedStep[];
  /** Null: it came to its end. */
  readonly error: Pick<RunError, 'code' | 'message' | 'line' | 'column'> | null;
}

export class Trail {
  #steps: RecordedStep[] = [];
  #characters = 0;
  #asked: Pick<RecordedStep, 'site' | 'nth' | 'kind' | 'payload'> | null = null;

  asked(site: string, nth: number, kind: string, payload: string): void {
    this.#asked = { site, nth, kind, payload };
  }

  answered(answer: Answer, at: number): void {
    if (!this.#asked || this.#characters > MOST) return;
    this.#characters += this.#asked.payload.length + ('ok' in answer ? answer.ok.length : 'list' in answer ? answer.list.length : 100);
    if (this.#characters > MOST) this.#steps = [];
    else this.#steps.push({ ...this.#asked, answer, at });
    this.#asked = null;
  }

  /** Null when it was too much. */
  get steps(): readonly RecordedStep[] | null {
    return this.#characters > MOST ? null : this.#steps;
  }

  restart(): void {
    this.#steps = [];
    this.#characters = 0;
    this.#asked = null;
  }
}
