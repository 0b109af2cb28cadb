// `npm run bench -- rules [--peers]`: what rules cost by their number, and how long their effects take.

import type { Figure } from '../report/index.ts';
import { latency } from './latency.ts';
import { manyBesideFew, openBenchSandbox, throughput } from './throughput.ts';

/** @param peers also measure Drools and Esper, which are fetched when they are not there */
export async function* rules({ peers }: { readonly peers: boolean }): AsyncGenerator<Figure> {
  {
    await using sandbox = await openBenchSandbox();
    yield* throughput(sandbox, peers);
  }
  {
    await using sandbox = await openBenchSandbox();
    yield await manyBesideFew(sandbox);
  }
  yield* await latency();
}
