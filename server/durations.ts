// A histogram that is added to with each request: counts in an array, handed to the library when somebody asks for it.
import { Histogram, type MetricValue, type Registry } from 'prom-client';

export class Durations extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #boundsSeconds: readonly number[];
  /** How many were within each bound and beyond the one before; the last: beyond all. */
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

  /** What a registry asks a histogram for when it makes text; the library's `get` is made of it, too. */
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
