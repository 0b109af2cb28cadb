// What is benched: a service of its own with the project in it, or one that runs somewhere; and what each can tell of its rules.
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
  /** What it counts of its rules counts from now on. */
  reset(): Promise<void>;
  /** @returns false when something has not come to rest in that time */
  settle(withinMs: number): Promise<boolean>;
  rules(): Promise<RuleResult[]>;
  /** So far; null where that cannot be known. */
  cpu(): Promise<CpuSeconds | null>;
  readonly notes: readonly string[];
}

const POLL_MS = 50;
/** What the project starts by itself is done by then, or goes on beside. */
const LOADED_MS = 60_000;
const USER = 'admin';

/** @returns null when the project could not be loaded; the terminal has been told why */
export async function openOwn(project: string, options: BenchOptions, terminal: Terminal): Promise<Target | null> {
  const service = await openBenchService(options.lanes);
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

/** The definitions are those that are in force there. */
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

/** No run is open there, as far as it can be asked. */
async function settled(scraped: () => Promise<Counts | null>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  for (;;) {
    const counts = await scraped();
    if (!counts || counts.openRuns === 0) return true;
    if (performance.now() > until) return false;
    await sleep(POLL_MS);
  }
}
