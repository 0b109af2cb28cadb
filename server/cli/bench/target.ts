// The target of a bench: a service of its own with the project in it, or a running one; and what each can report of its rules.
import { setTimeout as sleep } from 'node:timers/promises';
import { importProject } from '../projects/index.ts';
import { openRemote } from '../remote.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import type { Address } from './events.ts';
import type { BenchOptions } from './options.ts';
import { type CpuSeconds, cpuOf } from './processes.ts';
import type { RuleResult } from './result.ts';
import { openBenchService } from './service.ts';
import { type Counts, countsOf, rulesBetween } from './scrape.ts';

export interface Target extends AsyncDisposable {
  readonly address: Address;
  /** Starts the measurements of rules anew. */
  reset(): Promise<void>;
  /** @returns false when runs are still in progress after that time */
  settle(withinMs: number): Promise<boolean>;
  rules(): Promise<RuleResult[]>;
  /** CPU times so far; null where they cannot be known. */
  cpu(): Promise<CpuSeconds | null>;
  readonly notes: readonly string[];
}

const POLL_MS = 50;
/** Longest wait for the runs that the project starts by itself; those that last longer go on beside the load. */
const LOADED_MS = 60_000;
const USER = 'admin';

/** @returns null when the service does not start or the project could not be loaded; the terminal has shown the reason */
export async function openOwn(project: string, options: BenchOptions, terminal: Terminal): Promise<Target | null> {
  const service = await openBenchService(options.lanes).catch((error: Error) => {
    terminal.err(`The service does not start: ${error.message}\n`);
    return null;
  });
  if (!service) return null;
  try {
    const { url, password } = service;
    const quiet = { ...terminal, out: terminal.err };
    if ((await importProject(project, { url, user: USER, password }, quiet)) !== 0) {
      await service[Symbol.asyncDispose]();
      return null;
    }
    await service.settle(LOADED_MS);
    return {
      address: { url, token: await tokenOf(url, password) },
      reset: () => service.reset(),
      settle: (withinMs) => service.settle(withinMs),
      rules: async () => {
        const { stages, failed } = await service.rules();
        return stages.map((one) => ({ ...one, failed: failed[one.rule] ?? 0 }));
      },
      cpu: () => cpuOf(service.pid),
      notes: [],
      [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
    };
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

async function tokenOf(url: string, password: string): Promise<string> {
  const credentials = Buffer.from(`${USER}:${password}`).toString('base64');
  const answer = await fetch(`${url}/authenticate`, { headers: { Authorization: `Basic ${credentials}` } });
  if (!answer.ok) throw new Error(`the login of the service is refused: ${answer.status}`);
  return ((await answer.json()) as { accessToken: string }).accessToken;
}

const HIDDEN = 'The service does not show /metrics to this user, so stages of rules are not measured; only requests are.';
const COARSE = 'Stages of rules are those of /metrics: a quantile is the upper bound of its bucket.';

/** A running service, with the definitions that are in force there. */
export async function openElsewhere(options: BenchOptions & { readonly url: string }): Promise<Target> {
  const url = options.url.replace(/\/$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`--url takes an address such as http://localhost:8080, not '${options.url}'.`);
  const remote = await openRemote(options);
  const scraped = async (): Promise<Counts | null> => {
    const answer = await remote.send('GET', '/metrics');
    return answer.ok ? countsOf(await answer.text()) : null;
  };
  let before = await scraped();
  return {
    address: { url, token: remote.token },
    async reset() {
      before = await scraped();
    },
    settle: (withinMs) => settled(scraped, withinMs),
    async rules() {
      const now = await scraped();
      return before && now ? rulesBetween(before, now) : [];
    },
    cpu: () => Promise.resolve(null),
    notes: [before ? COARSE : HIDDEN],
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Whether no run is open there, as far as /metrics shows. */
async function settled(scraped: () => Promise<Counts | null>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  for (;;) {
    const counts = await scraped();
    if (!counts || counts.openRuns === 0) return true;
    if (performance.now() > until) return false;
    await sleep(POLL_MS);
  }
}
