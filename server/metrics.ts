// What the service counts and measures about itself, for Prometheus (resources-and-api.md 9.4). No label holds more than names of resources.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** One request was answered. @param resource its name; null where it is none that exists */
  answered(request: { method: string; resource: string | null; seconds: number }, reply: { status: number; body?: string }): void;
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
  const requests = new Counter({
    name: 'cascade_http_requests_total',
    help: 'Requests answered over HTTP, those of batches included',
    labelNames: ['method', 'resource', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'cascade_http_request_seconds',
    help: 'Time until a request was answered',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  const quotas = new Counter({
    name: 'cascade_quota_exceeded_total',
    help: 'Requests refused for a quota',
    labelNames: ['quota'],
    registers,
  });
  return {
    answered({ method, resource, seconds: taken }, { status, body }) {
      requests.inc({ method: METHODS.has(method) ? method : 'other', resource: resource ?? '-', status: String(status) });
      seconds.observe(taken);
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
