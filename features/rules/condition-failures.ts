// Handles errors in conditions of events (language.md 6.1, 6.3): the condition counts as false, and the error is recorded like that of a
// failed run. A condition that fails for every event is reported once a second.

import { boundedCache } from '../../platform/structures/index.ts';
import { randomUUID } from 'node:crypto';
import { type RunError, toWireError } from '../../runtime/runs/index.ts';
import { serviceActor } from '../../runtime/context/index.ts';
import { snapshot } from '../diagnostics/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

const REPORT_EVERY_MS = 1_000;
/** Bounds the remembered rules; those that failed last are kept. */
const MOST_RULES = 10_000;

export class ConditionFailures {
  readonly #space: () => Namespace;
  readonly #reportedAt = boundedCache<string, number>(MOST_RULES);

  /** @param space called when the first error occurs */
  constructor(space: () => Namespace) {
    this.#space = space;
  }

  /** @param rule the full name of the rule */
  record(rule: string, error: unknown): void {
    const space = this.#space();
    const { code, message, params, status } = toWireError(error);
    const key = `${rule} ${code}`;
    const nowMs = space.clock.now();
    if (nowMs - (this.#reportedAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return;
    this.#reportedAt.set(key, nowMs);
    space.log.warn({ err: error, rule, namespace: space.name }, 'the condition of a rule failed');
    const found: RunError = { code, message, params, status, line: null, column: null, stack: [] };
    const unit = snapshot(space, `/rules/${rule}`, randomUUID(), found, serviceActor(space));
    if (unit.writes.length === 0) return;
    space.transactions
      .submit(unit, true)
      .catch((reason: unknown) => space.log.error({ err: reason, rule }, 'the error of a condition could not be recorded'));
  }
}
