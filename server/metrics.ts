// The metrics of the service, for Prometheus (resources-and-api.md 9.4). No label holds more than names of resources.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Engine, Load } from '../resources/api.ts';
import { Durations } from './durations.ts';
import { StageHistograms } from './stage-histograms.ts';

export interface Metrics {
  /** Counts an answered request. @param resource its name; null where it is not known that there is such a resource */
  answered(method: string, resource: string | null, seconds: number, reply: { status: number; body?: string | undefined }): void;
  /** Registers gauges that are read with each scrape. */
  watch(now: Readonly<Record<WatchedName, () => number>>): void;
  /** The metrics in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** The engine's part of the metrics. */
export type Working = Pick<Engine, 'counters' | 'load'>;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

const STAGE_HELP = 'Time from the request of an event until its rule has reached a stage';
const STALL_SECONDS = [0.02, 0.03, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5, 10];

const WATCHED = {
  cascade_ws_connections: 'WebSockets that are open',
  cascade_ws_subscriptions: 'Subscriptions of open WebSockets',
} as const;
export type WatchedName = keyof typeof WATCHED;

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const QUOTA = /"code":"cascade\.quota\.exceeded".*?"params":\["(\w+)"/;

/**
 * @param ofProcess include memory, CPU, garbage collection and event loop: they are the process's, so at most one of its services shows
 *   them
 */
export function openMetrics(engine?: Working, ofProcess = false): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  // Answers are counted here and converted with each scrape: the library makes an object and a text of the labels for each count.
  const answers = new Map<string, { labels: Record<'method' | 'resource' | 'status', string>; count: number }>();
  new Counter({
    name: 'cascade_http_requests_total',
    help: 'Requests answered over HTTP, those of batches included',
    labelNames: ['method', 'resource', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of answers.values()) this.inc(labels, count);
    },
  });
  const durations = new Durations('cascade_http_request_seconds', 'Time until a request was answered', SECONDS, registry);
  const quotas = new Counter({
    name: 'cascade_quota_exceeded_total',
    help: 'Requests refused for a quota',
    labelNames: ['quota'],
    registers,
  });
  if (engine) registerWork(engine, registry);
  if (ofProcess) collectDefaultMetrics({ register: registry });
  return {
    answered(method, resource, seconds, { status, body }) {
      const name = METHODS.has(method) ? method : 'other';
      const key = `${name} ${status} ${resource ?? '-'}`;
      const known = answers.get(key);
      if (known) known.count++;
      else answers.set(key, { labels: { method: name, resource: resource ?? '-', status: String(status) }, count: 1 });
      durations.add(seconds);
      const quota = status === 429 ? QUOTA.exec(body ?? '')?.[1] : undefined;
      if (quota !== undefined) quotas.inc({ quota });
    },
    watch(now) {
      for (const [name, help] of Object.entries(WATCHED) as [WatchedName, string][])
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(now[name]());
          },
        });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Registers the engine's counts of rules, events, deliveries and sources, which are read with each scrape. */
function registerWork({ counters, load }: Working, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'cascade_events_total',
    help: 'Events that were committed',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const [kind, count] of counters.events) this.inc({ kind }, count);
    },
  });
  new Counter({
    name: 'cascade_rule_activations_total',
    help: 'Runs of rules that have ended',
    labelNames: ['namespace', 'rule', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { namespace, rule, outcome, count } of counters.activations.values()) this.inc({ namespace, rule, outcome }, count);
    },
  });
  const durations = new Durations('cascade_rule_seconds', 'Time from the start of a run to its end', SECONDS, registry);
  counters.onRan = (seconds) => durations.add(seconds);
  new StageHistograms('cascade_rule_stage_seconds', STAGE_HELP, SECONDS, counters.stages, registry);
  new Counter({
    name: 'cascade_stalls_total',
    help: 'Times at which one piece of work kept the main thread from everything else for 20 ms and more',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset();
      for (const [cause, count] of counters.stalls) this.inc({ cause }, count);
    },
  });
  const stalled = new Histogram({
    name: 'cascade_stall_seconds',
    help: 'How long it was kept then',
    labelNames: ['cause'],
    buckets: [...STALL_SECONDS],
    registers,
  });
  counters.onStalled = (seconds, cause) => stalled.observe({ cause }, seconds);
  const gauge = (name: string, help: string, value: (now: Load) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(value(await load()));
      },
    });
  };
  gauge('cascade_queue_depth', 'Runs of rules that have not ended', ({ queueDepth }) => queueDepth);
  gauge('cascade_requests_waiting', 'Requests held back as their namespace has enough under way', ({ requestsWaiting }) => requestsWaiting);
  gauge('cascade_reliable_pending', 'Deliveries of reliable events that nobody has acknowledged', ({ reliablePending }) => reliablePending);
  gauge(
    'cascade_namespaces_unavailable',
    'Namespaces that could not be opened and are tried again',
    ({ namespacesUnavailable }) => namespacesUnavailable,
  );
  new Gauge({
    name: 'cascade_source_up',
    help: '1 for a source that is ready, 0 for an active one that is not',
    labelNames: ['namespace', 'source'],
    registers,
    async collect() {
      this.reset();
      for (const { namespace, source, isUp } of (await load()).sources) this.set({ namespace, source }, isUp ? 1 : 0);
    },
  });
}
