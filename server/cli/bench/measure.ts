// One round: sends events at a rate, and waits until all runs that they caused have ended.
import { LogHistogram } from '../../../platform/structures/index.ts';
import { type BenchEvent, requestOf } from './events.ts';
import { openLoop } from './open-loop.ts';
import { cpuBetween } from './processes.ts';
import type { RoundResult } from './result.ts';
import type { Target } from './target.ts';

export interface Round {
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
  /** Time that runs may take after the last request, in milliseconds; a longer one is a backlog that the rate has built up. */
  readonly settleMs: number;
}

/** Events in order, across rounds: no round sends an event of an earlier one. */
export class EventSource {
  readonly #event: (n: number) => BenchEvent;
  readonly #samples: readonly BenchEvent[] | null;
  #next = 0;

  /** @param samples one for each type and topic of the events; null: all are on the same */
  constructor(event: (n: number) => BenchEvent, samples: readonly BenchEvent[] | null = null) {
    this.#event = event;
    this.#samples = samples;
  }

  /** The events that are sent alone before all others. */
  samples(): readonly BenchEvent[] {
    return this.#samples ?? [this.next()];
  }

  next(): BenchEvent {
    return this.#event(this.#next++);
  }
}

export async function measure(target: Target, source: EventSource, { rate, seconds, connections, settleMs }: Round): Promise<RoundResult> {
  await target.reset();
  const cpuBefore = await target.cpu();
  const begunMs = performance.now();
  const request = (): Buffer => requestOf(source.next(), target.address);
  const { intended, answered, refused, latencies } = await openLoop({ url: target.address.url, request, rate, seconds, connections });
  const isSettled = await target.settle(settleMs);
  return {
    rate,
    intended,
    answered,
    refused,
    requests: latencies.toJSON(),
    seconds: isSettled ? (performance.now() - begunMs) / 1_000 : null,
    cpu: cpuBetween(cpuBefore, await target.cpu()),
    rules: await target.rules(),
  };
}

/** A quantile of all answered requests. */
export const quantileOf = (durations: RoundResult['requests'], part: number): number => LogHistogram.from(durations).quantile(part);
