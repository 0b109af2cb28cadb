// A histogram that each request updates: counts in an array, which are converted for the library when somebody reads it.
import { Histogram, type MetricValue, type Registry } from 'prom-client';

export class Durations extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #boundsSeconds: readonly number[];
  /** Counts of the values within each bound and above the one before; the last one counts those above all bounds. */
  readonly #counts: Float64Array;
  #sumSeconds = 0;

  /** @param boundsSeconds ascending */
  constructor(name: string, help: string, boundsSeconds: readonly number[], registry: Registry) {
    super({ name, help, buckets: [...boundsSeconds], registers: [registry] });
    this.#name = name;
    this.#help = help;
    this.#boundsSeconds = boundsSeconds;
    this.#counts = new Float64Array(boundsSeconds.length + 1);
  }

  add(seconds: number): void {
    let index = 0;
    while (index < this.#boundsSeconds.length && seconds > this.#boundsSeconds[index]!) index++;
    this.#counts[index]!++;
    this.#sumSeconds += seconds;
  }

  /** The method by which a registry makes text; the library's `get` builds on it, too. */
  async getForPromString(): Promise<object> {
    let total = 0;
    const sharedLabels = {};
    const values: (MetricValue<string> & { metricName: string; sharedLabels: object })[] = [];
    for (const [index, count] of this.#counts.entries()) {
      total += count;
      values.push({
        metricName: `${this.#name}_bucket`,
        sharedLabels,
        labels: { le: String(this.#boundsSeconds[index] ?? '+Inf') },
        value: total,
      });
    }
    values.push(
      { metricName: `${this.#name}_sum`, sharedLabels, labels: {}, value: this.#sumSeconds },
      { metricName: `${this.#name}_count`, sharedLabels, labels: {}, value: total },
    );
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }
}
