// A histogram that is added to with each request: counts in an array, made a metric of the library's when somebody asks for it.
import type { Metric, MetricValue, Registry } from 'prom-client';

export class Durations {
  readonly #boundsSeconds: readonly number[];
  /** How many were within each bound and beyond the one before; the last: beyond all. */
  readonly #counts: Float64Array;
  #sumSeconds = 0;

  /** @param boundsSeconds ascending */
  constructor(name: string, help: string, boundsSeconds: readonly number[], registry: Registry) {
    this.#boundsSeconds = boundsSeconds;
    this.#counts = new Float64Array(boundsSeconds.length + 1);
    // All that a registry asks of a metric is its name and what it is worth now.
    const metric = { name, get: () => Promise.resolve(this.#told(name, help)) };
    registry.registerMetric(metric as unknown as Metric);
  }

  add(seconds: number): void {
    let index = 0;
    while (index < this.#boundsSeconds.length && seconds > this.#boundsSeconds[index]!) index++;
    this.#counts[index]!++;
    this.#sumSeconds += seconds;
  }

  #told(name: string, help: string): object {
    let total = 0;
    const values: (MetricValue<string> & { metricName: string })[] = [];
    for (const [index, count] of this.#counts.entries()) {
      total += count;
      values.push({ metricName: `${name}_bucket`, labels: { le: String(this.#boundsSeconds[index] ?? '+Inf') }, value: total });
    }
    values.push(
      { metricName: `${name}_sum`, labels: {}, value: this.#sumSeconds },
      { metricName: `${name}_count`, labels: {}, value: total },
    );
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}
