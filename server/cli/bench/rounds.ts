// Repeats rounds or searches, and makes figures from them.
import { UsageError } from '../terminal.ts';
import { type CoreRound, openCore } from './core.ts';
import { pathOf } from './events.ts';
import { listenTo } from './listening.ts';
import { type EventSource, measure, quantileOf } from './measure.ts';
import type { BenchOptions, Load } from './options.ts';
import { ramp } from './ramp.ts';
import type { BenchResult, Figure, RoundResult, StepResult } from './result.ts';
import type { Target } from './target.ts';
import { number, STAGE_NAMES } from './text.ts';
import type { Stage } from '../../../runtime/context/index.ts';

export type Measured = Pick<BenchResult, 'rounds' | 'ramps' | 'figures' | 'notes'>;
export type Progress = (text: string) => void;

const WARM_PART = 0.25;
/** Rate of the warm-up before a ramp, whose rates are not known yet. */
const WARM_RATE = 100;
/**
 * Least time that runs may take after the last request, in milliseconds; a rate that leaves more behind is beyond the service's capacity.
 */
const SETTLE_MS = 2_000;
/** Longest wait for a backlog before the next measurement, in milliseconds. */
const BACKLOG_MS = 120_000;

export async function atRate(
  target: Target,
  source: EventSource,
  load: Load,
  options: BenchOptions,
  progress: Progress,
): Promise<Measured> {
  const { seconds, connections, rounds: count } = options;
  const rate = load.rate as number;
  await using _listening = await begin(target, source, options);
  progress('warming…');
  await measure(target, source, { rate, seconds: WARM_PART * seconds, connections, settleMs: BACKLOG_MS });
  const rounds: RoundResult[] = [];
  for (let n = 1; n <= count; n++) {
    progress(`round ${n} of ${count}: ${number(rate)} a second for ${seconds} s…`);
    const round = await measure(target, source, { rate, seconds, connections, settleMs: BACKLOG_MS });
    rounds.push(round);
    if (round.seconds === null)
      throw new UsageError(
        `At ${rate} a second runs pile up: not all were done ${BACKLOG_MS / 1_000} s after the last request. Give a lower --rate.`,
      );
  }
  return { rounds, ramps: [], figures: figuresOf(rounds), notes: target.notes };
}

export async function ramped(
  target: Target,
  source: EventSource,
  load: Load,
  options: BenchOptions,
  progress: Progress,
): Promise<Measured> {
  const { seconds, connections, rounds: count } = options;
  const boundMs = load.boundMs as number;
  await using _listening = await begin(target, source, options);
  progress('warming…');
  await measure(target, source, { rate: WARM_RATE, seconds, connections, settleMs: BACKLOG_MS });
  const ramps: { found: number; steps: StepResult[] }[] = [];
  const best: RoundResult[] = [];
  const refusals = new Map<string, number>();
  for (let n = 1; n <= count; n++) {
    const steps: StepResult[] = [];
    const holding: RoundResult[] = [];
    const step = async (rate: number): Promise<StepResult> => {
      progress(`search ${n} of ${count}: ${number(rate)} a second…`);
      const round = await measure(target, source, { rate, seconds, connections, settleMs: Math.max(SETTLE_MS, 500 * seconds) });
      const one = stepOf(round, boundMs);
      for (const [status, times] of Object.entries(round.refused)) refusals.set(status, (refusals.get(status) ?? 0) + times);
      steps.push(one);
      if (one.holds) holding.push(round);
      if (round.seconds === null && !(await target.settle(BACKLOG_MS)))
        throw new UsageError(`Runs of ${rate} events a second were not done after ${BACKLOG_MS / 1_000} s.`);
      return one;
    };
    const found = await ramp(step, ramps[0]?.found || undefined);
    ramps.push({ found, steps });
    const round = holding.find(({ rate }) => rate === found);
    if (round) best.push(round);
  }
  const highest: Figure = { unit: 'events/s', better: 'higher', rounds: ramps.map(({ found }) => found) };
  return {
    rounds: best,
    ramps,
    figures: { [`highest rate, p99 ≤ ${boundMs} ms`]: highest, ...cpuFigures(best) },
    notes: [...target.notes, ...refusedIn(refusals)],
  };
}

const refusedIn = (refusals: ReadonlyMap<string, number>): string[] =>
  [...refusals].map(([status, times]) => `In steps that did not hold, ${times.toLocaleString('en')} requests ended so: ${status}.`);

/** A rate keeps the bound when its requests are answered in time, all with success, and its runs leave no backlog. */
function stepOf({ rate, requests, refused, seconds }: RoundResult, boundMs: number): StepResult {
  const p99Ms = quantileOf(requests, 0.99);
  return { rate, p99Ms, holds: p99Ms <= boundMs && Object.keys(refused).length === 0 && seconds !== null };
}

export async function core(project: string, source: EventSource, options: BenchOptions, progress: Progress): Promise<Measured> {
  const { seconds, rounds: count, lanes } = options;
  progress('the rules are compiled…');
  await using measured = await openCore(project, source, lanes);
  progress('warming…');
  await measured.round(WARM_PART * seconds);
  const rounds: CoreRound[] = [];
  for (let n = 1; n <= count; n++) {
    progress(`round ${n} of ${count}…`);
    rounds.push(await measured.round(seconds));
  }
  const figure = (unit: string, of: (round: CoreRound) => number): Figure => ({
    unit,
    better: 'higher',
    rounds: rounds.map(of),
  });
  const asked = rounds.reduce((sum, { rules }) => sum + rules.reduce((all, one) => all + one.asked, 0), 0);
  return {
    rounds: rounds.map(({ rate, rules }) => ({
      ...{ rate, intended: 0, answered: 0, refused: {}, requests: { buckets: [], sumMs: 0, maxMs: 0 }, seconds, cpu: null },
      rules: rules.map(({ rule, durations, failed }) => ({ rule, failed, stages: { run_ended: durations.toJSON() } })),
    })),
    ramps: [],
    figures: {
      'index alone': figure('events/s', ({ indexRate }) => indexRate),
      'index and sandbox': figure('events/s', ({ rate }) => rate),
      ...(rounds.every(({ runRate }) => runRate > 0) && { 'index and sandbox, runs': figure('runs/s', ({ runRate }) => runRate) }),
    },
    notes: [
      ...measured.notes,
      ...(asked > 0 ? [`${asked.toLocaleString('en')} runs ended at the first thing that they asked the store for.`] : []),
    ],
  };
}

/** Sends one event of each kind alone, so that a refusal is shown in the service's own words. */
async function begin({ address }: Target, source: EventSource, { subscribe }: BenchOptions): Promise<AsyncDisposable> {
  const headers = { Authorization: `Bearer ${address.token}`, 'Content-Type': 'application/json' };
  for (const event of source.samples()) {
    const answer = await fetch(`${address.url}${pathOf(event)}`, { method: 'POST', headers, body: JSON.stringify(event.value) });
    const text = await answer.text();
    const on = 'type' in event.on ? `of type ${event.on.type}` : `on topic ${event.on.topic}`;
    if (!answer.ok) throw new UsageError(`An event ${on} is refused with ${answer.status}: ${text.slice(0, 1_000)}`);
  }
  return subscribe.length > 0 ? listenTo(subscribe, address) : { [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Stages that are compared, since somebody waits for their end. */
const COMPARED: readonly Stage[] = ['run_ended', 'effect_committed', 'subscriber_told'];

function figuresOf(rounds: readonly RoundResult[]): Record<string, Figure> {
  const lower = (unit: string, values: readonly number[]): Figure => ({ unit, better: 'lower', rounds: values });
  const figures: Record<string, Figure> = {
    'events done': {
      unit: '1/s',
      better: 'higher',
      rounds: rounds.map(({ answered, seconds }) => answered / (seconds ?? Number.POSITIVE_INFINITY)),
    },
  };
  for (const [name, part] of [
    ['p50', 0.5],
    ['p99', 0.99],
    ['p99.9', 0.999],
  ] as const)
    figures[`requests, ${name}`] = lower(
      'ms',
      rounds.map(({ requests }) => quantileOf(requests, part)),
    );
  Object.assign(figures, cpuFigures(rounds));
  const names = [...new Set(rounds.flatMap(({ rules }) => rules.map(({ rule }) => rule)))].sort();
  for (const name of names)
    for (const stage of COMPARED) {
      const values = rounds.map(({ rules }) => rules.find(({ rule }) => rule === name)?.stages[stage]);
      if (values.every((one) => one !== undefined))
        figures[`${name}, ${STAGE_NAMES[stage]}, p99`] = lower(
          'ms',
          values.map((one) => quantileOf(one, 0.99)),
        );
    }
  return figures;
}

/** Figures of CPU time; none where the processes are on another machine. */
function cpuFigures(rounds: readonly RoundResult[]): Record<string, Figure> {
  const figures: Record<string, Figure> = {};
  for (const process of ['service', 'sandbox', 'mongod'] as const) {
    const values = rounds.map(({ cpu, intended }) => (cpu ? (1e6 * cpu[process]) / intended : Number.NaN));
    if (values.length > 0 && values.every(Number.isFinite))
      figures[`CPU of ${process}`] = { unit: 'µs an event', better: 'lower', rounds: values };
  }
  return figures;
}
