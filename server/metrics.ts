// What the service counts and measures about itself, for Prometheus (resources-and-api.md 9.4). No label holds more than names of resources.
import { Counter, Gauge, Registry } from 'prom-client';
import { Durations } from './durations.ts';

export interface Metrics {
  /** One request was answered. @param resource its name; null where it is none that exists */
  answered(method: string, resource: string | null, seconds: number, reply: { status: number; body?: string | undefined }): void;
  /** What is counted when it is asked for. */
  watch(now: Readonly<Record<WatchedName, () => number>>): void;
  /** In Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const WATCHED = {
  cascade_ws_connections: 'WebSockets that are open',
  cascade_ws_subscriptions: 'Subscriptions of open WebSockets',
} as const;
export type WatchedName = keyof typeof WATCHED;

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const QUOTA = /"code":"cascade\.quota\.exceeded".*?"params":\["(\w+)"/;

export function openMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  // Counted here, and told to the library when somebody asks: it makes an object and a text of the labels each time.
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
  const durations = new Durations(
    'cascade_http_request_seconds',
    'Time until a request was answered',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registry,
  );
  const quotas = new Counter({
    name: 'cascade_quota_exceeded_total',
    help: 'Requests refused for a quota',
    labelNames: ['quota'],
    registers,
  });
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
