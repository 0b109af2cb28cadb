// `npm run bench -- rules [--peers]`: what rules cost by their number, and how long their effects take.

import type { Figure } from '../report.ts';
import { latency } from './latency.ts';
import { manyBesideFew, openBenchSandbox, throughput } from './throughput.ts';

/** @param peers also measure Drools and Esper, which are fetched when they are not there */
export async function rules({ peers }: { readonly peers: boolean }): Promise<Figure[]> {
  const figures: Figure[] = [];
  {
    await using sandbox = await openBenchSandbox();
    figures.push(...(await throughput(sandbox, peers)));
  }
  {
    await using sandbox = await openBenchSandbox();
    figures.push(await manyBesideFew(sandbox));
  }
  figures.push(...(await latency()));
  return figures;
}
