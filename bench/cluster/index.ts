// `npm run bench -- cluster`: several processes on one database and one NATS.
import type { Effort } from '../compare.ts';
import type { Figure } from '../report/index.ts';
import { hop } from './hop.ts';
import { manyNamespaces } from './many-namespaces.ts';
import { rollingRestart } from './rolling-restart.ts';
import { share } from './share.ts';

/** @throws Error where nats-server is not installed */
export async function* cluster(effort: Effort): AsyncIterable<Figure> {
  yield* await hop(effort);
  yield await share(effort);
  yield* await rollingRestart();
  yield* await manyNamespaces();
}
