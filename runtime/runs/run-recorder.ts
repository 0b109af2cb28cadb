// Records a run for `cascade replay`: what the sandbox got for it and each answer, in order. Only the last attempt counts; one with too
// much data is not kept.

import type { Answer, StoredEvent } from '../transactions/index.ts';
import type { RunRequest } from '../../sandbox/index.ts';
import type { RunError } from './types.ts';
import type { Executable } from '../programs/index.ts';

/** Bound of all requests and answers of a run, in characters. */
const MOST = 256 * 1024;
/** Bound of the run's input and program, in characters. */
const MOST_GIVEN = 4 * 1024 * 1024;

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

/** The input of a run: the same input gives the same run. */
export type Given = Omit<RunRequest, 'observer' | 'alone' | 'cpuTimeMs' | 'at' | 'seed' | 'opts'> & {
  readonly opts: RunRequest['opts'] & Pick<RunRequest, 'at' | 'seed'>;
};

export interface Recording {
  /** The invocation, as the logs and snapshots name it. */
  readonly invocation: string;
  readonly executable: Pick<Executable, 'resource' | 'name'> & Partial<Pick<Executable, 'map'>>;
  /** The event that started it; null for a program whose caller waited. */
  readonly event: StoredEvent | null;
  readonly given: Given;
  readonly steps: readonly RecordedStep[];
  /** Null: it succeeded. */
  readonly error: Pick<RunError, 'code' | 'message' | 'line' | 'column'> | null;
}

export class RunRecorder {
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

  /** The recording; null when it is too large. */
  recording(facts: Omit<Recording, 'steps' | 'error'>, error: RunError | null): Recording | null {
    const { argsJson, namedJson, event, program } = facts.given;
    const given = argsJson.length + (namedJson?.length ?? 0) + (event?.json.length ?? 0) + (program?.module.source.length ?? 0);
    if (this.#characters > MOST || given > MOST_GIVEN) return null;
    const failure = error && { code: error.code, message: error.message, line: error.line, column: error.column };
    return { ...facts, steps: this.#steps, error: failure };
  }

  restart(): void {
    this.#steps = [];
    this.#characters = 0;
    this.#asked = null;
  }
}
