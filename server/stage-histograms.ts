// The stages of rules as a histogram for Prometheus, made from the engine's counts with each scrape.
import { Histogram, type MetricValue, type Registry } from 'prom-client';
import type { RuleStages } from '../resources/rule-stages.ts';

type Labelled = MetricValue<string> & { metricName: string; sharedLabels: object };

export class StageHistograms extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #boundsSeconds: readonly number[];
  readonly #stages: RuleStages;

  /** @param boundsSeconds ascending */
  constructor(name: string, help: string, boundsSeconds: readonly number[], stages: RuleStages, registry: Registry) {
    super({ name, help, labelNames: ['namespace', 'rule', 'stage'], buckets: [...boundsSeconds], registers: [registry] });
    this.#name = name;
    this.#help = help;
    this.#boundsSeconds = boundsSeconds;
    this.#stages = stages;
  }

  /** The method by which a registry makes text; the library's `get` builds on it, too. */
  async getForPromString(): Promise<object> {
    const values: Labelled[] = [];
    const boundsMs = this.#boundsSeconds.map((seconds) => seconds * 1_000);
    for (const { namespace, rule, stages } of this.#stages.all())
      for (const [stage, durations] of stages) {
        const sharedLabels = { namespace, rule, stage };
        const add = (suffix: string, value: number, labels = {}): void =>
          void values.push({ metricName: this.#name + suffix, sharedLabels, labels, value });
        for (const [index, count] of durations.within(boundsMs).entries())
          add('_bucket', count, { le: String(this.#boundsSeconds[index]) });
        add('_bucket', durations.count, { le: '+Inf' });
        add('_sum', durations.sumMs / 1_000);
        add('_count', durations.count);
      }
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }
}
