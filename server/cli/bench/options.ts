// The options of `cascade bench`, and which of them exclude each other.
import { UsageError } from '../terminal.ts';
import type { RemoteOptions } from '../remote.ts';

export interface BenchOptions extends RemoteOptions {
  readonly events?: string;
  readonly generate?: string;
  readonly rate?: number;
  readonly ramp?: boolean;
  readonly core?: boolean;
  /** Bound of the p99 of requests that a ramp keeps, in milliseconds; 50 when absent. */
  readonly bound?: number;
  /** Duration of one round, or one step of a ramp. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly lanes?: number;
  readonly seed: number;
  readonly subscribe: readonly string[];
  readonly report?: string;
  readonly output?: string;
  readonly compare?: string;
  readonly json?: boolean;
}

export type Mode = 'rate' | 'ramp' | 'core';
const BOUND_MS = 50;

/** The load: two measurements are comparable when their loads are equal. */
export interface Load {
  readonly mode: Mode;
  /** The source of events: `file x.ndjson` or `generated Pump, seed 1`. */
  readonly events: string;
  readonly rate: number | null;
  readonly boundMs: number | null;
  readonly seconds: number;
  readonly connections: number | null;
}

/** @throws UsageError for missing or contradictory options */
export function loadOf(options: BenchOptions): Load {
  const { events, generate, rate, ramp, core, url, bound, lanes, subscribe } = options;
  if ((events === undefined) === (generate === undefined))
    throw new UsageError('What is sent? Give either --events FILE.ndjson or --generate TYPE.');
  if ([rate !== undefined, ramp === true, core === true].filter(Boolean).length !== 1)
    throw new UsageError('How is it sent? Give one of --rate N, --ramp and --core.');
  const refuse = (option: string, beside: string): never => {
    throw new UsageError(`${option} does not go with ${beside}.`);
  };
  if (bound !== undefined && !ramp) refuse('--bound', core ? '--core' : '--rate: it is what --ramp holds');
  if (core && url !== undefined) refuse('--core', '--url: it needs no service');
  if (core && subscribe.length > 0) refuse('--subscribe', '--core');
  if (lanes !== undefined && url !== undefined) refuse('--lanes', '--url: that service has its own');
  if (url === undefined && [options.user, options.password, options.token].some((one) => one !== undefined))
    refuse('--user, --password or --token', 'a service of its own; give --url, too');
  const wrong = subscribe.find((path) => !path.startsWith('/'));
  if (wrong !== undefined) throw new UsageError(`--subscribe takes the path of an event such as /types/Alarm/insert, not '${wrong}'.`);
  return {
    mode: core ? 'core' : ramp ? 'ramp' : 'rate',
    events: events !== undefined ? `file ${events}` : `generated ${generate}, seed ${options.seed}`,
    rate: rate ?? null,
    boundMs: ramp ? (bound ?? BOUND_MS) : null,
    seconds: options.seconds,
    connections: core ? null : options.connections,
  };
}
