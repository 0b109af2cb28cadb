// AGGREGATE (resources-and-api.md 2.9, 3.6): a pipeline of the caller, checked stage by stage and rebuilt before the store sees it.

import { type Document, MongoServerError } from 'mongodb';
import type { Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import { fault } from '../../faults.ts';
import { DEFINITIONS } from '../definitions/store.ts';
import type { Namespace, Resource } from '../types.ts';
import { Budget } from './expressions.ts';
import { rowToJson } from './results.ts';
import { shapeOf } from './shape.ts';
import { buildPipeline } from './stages.ts';

const MOST_ROWS = 10_000;
const LONGEST_MS = 60_000;
/** Codes of the store: time is up; memory, with and without leave to use the disk. */
const TOO_EXPENSIVE: ReadonlyMap<unknown, string> = new Map([
  [50, 'time'],
  [146, 'memory'],
  [292, 'memory'],
]);

export interface Aggregated {
  /** JSON text of the array. */
  readonly json: string;
  readonly truncated: boolean;
}

/** @throws cascade.query.…, cascade.request.body.invalid */
export async function aggregate(space: Namespace, resource: Resource, pipeline: Value, actor: Actor): Promise<Aggregated> {
  const isDefinition = resource.kind === 'definitions';
  const { stages, shape } = buildPipeline(pipeline, shapeOf(resource.type, isDefinition), {
    budget: new Budget(),
    condition: { username: actor.identity.username, namespace: actor.identity.namespace, now: actor.clock.now() },
    typeNamed: (name) => {
      const type = space.types.get(name);
      if (!type) throw fault('cascade.resource.type.not.found', name);
      return type;
    },
    front: {},
    nested: false,
  });
  const before: Document[] = isDefinition ? [{ $match: { kind: resource.name } }, { $replaceRoot: { newRoot: '$object' } }] : [];
  const secrets = [...resource.type.properties.values()].filter(({ encrypted }) => encrypted).map(({ name }) => name);
  const [first, ...rest] = stages;
  const leads = first !== undefined && '$geoNear' in first;
  const whole = [
    ...before,
    ...(leads ? [first] : []),
    ...(secrets.length > 0 ? [{ $unset: secrets }] : []),
    ...(leads ? rest : stages),
    { $limit: MOST_ROWS + 1 },
  ];
  const rows = await run(space, isDefinition ? DEFINITIONS : resource.collection, whole);
  const json = `[${rows
    .slice(0, MOST_ROWS)
    .map((row) => rowToJson(shape, row))
    .join(',')}]`;
  return { json, truncated: rows.length > MOST_ROWS };
}

async function run(space: Namespace, collection: string, stages: Document[]): Promise<Uint8Array[]> {
  const options = { raw: true, maxTimeMS: LONGEST_MS, allowDiskUse: false };
  try {
    return (await space.db.collection(collection).aggregate(stages, options).toArray()) as unknown as Uint8Array[];
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.hasErrorLabel('TransientTransactionError')) throw error;
    const limit = TOO_EXPENSIVE.get(error.code);
    if (limit !== undefined) throw fault('cascade.query.too.expensive', limit);
    if (!isAboutThePipeline(error)) throw error;
    space.log.debug({ err: error, collection }, 'a pipeline failed');
    throw fault('cascade.query.operand.invalid', '', 'pipeline');
  }
}

/** Evaluation errors have numbers of their own, or these; those of a store in trouble are named in the driver. */
const isAboutThePipeline = ({ code }: MongoServerError): boolean =>
  typeof code === 'number' &&
  (code >= 10_000
    ? code < 30_000_000 && code !== 11_600 && code !== 11_602 && code !== 13_435 && code !== 13_436 && code !== 10_107
    : [2, 9, 14, 15, 40, 241].includes(code));
