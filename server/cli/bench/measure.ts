// One round: events at a rate, then what they have set going, until it has come to rest.
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
  /** Runs may go on for so long after the last request; more is a backlog that the rate has built up. */
  readonly settleMs: number;
}

/** Events in their order, from round to round: what one has sent the next does not send again. */
export class EventSource {
  readonly #event: (n: number) => BenchEvent;
  readonly #samples: readonly BenchEvent[] | null;
  #next = 0;

  /** @param samples one for each type and topic that events are on; null: all are on the same */
  constructor(event: (n: number) => BenchEvent, samples: readonly BenchEvent[] | null = null) {
    this.#event = event;
    this.#samples = samples;
  }

  /** What is tried by itself before all others. */
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

/** Of all that was answered. */
export const quantileOf = (durations: RoundResult['requests'], part: number): number => LogHistogram.from(durations).quantile(part);
