// AGGREGATE (resources-and-api.md 2.9, 3.6): a pipeline of the caller, checked stage by stage and rebuilt before the store sees it.

import { type Document, MongoServerError } from 'mongodb';
import { getOwn, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import type { ConditionContext } from '../../conditions/index.ts';
import { fault } from '../../faults.ts';
import { DEFINITIONS } from '../definitions/store.ts';
import type { InstanceResource, Namespace, Resource } from '../types.ts';
import { Budget } from './expressions.ts';
import { toShown, withConstraints } from '../scalars/index.ts';
import { rowToJson, typedPart } from './results.ts';
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
  const condition = { username: actor.identity.username, namespace: actor.identity.namespace, now: actor.clock.now() };
  const prepared = resource.kind === 'instances' ? await withFirstMatches(space, resource, pipeline, condition, actor) : pipeline;
  const { stages, shape } = buildPipeline(prepared, shapeOf(resource.type, isDefinition), {
    budget: new Budget(),
    condition,
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
  const kept = rows.slice(0, MOST_ROWS);
  const typed = await toShown(
    space,
    shape.type,
    kept.map((row) => typedPart(shape, row)),
    actor,
  );
  const json = `[${kept.map((row, index) => rowToJson(shape, row, typed[index] as ObjectValue)).join(',')}]`;
  return { json, truncated: rows.length > MOST_ROWS };
}

/** The conditions with which a pipeline begins, with the constants of scalars as they are stored; later ones see computed documents. */
async function withFirstMatches(
  space: Namespace,
  resource: InstanceResource,
  pipeline: Value,
  context: ConditionContext,
  actor: Actor,
): Promise<Value> {
  if (!Array.isArray(pipeline)) return pipeline;
  const stages = [...pipeline];
  for (const [at, stage] of pipeline.entries()) {
    if (!isObject(stage) || Object.keys(stage).length !== 1 || !Object.hasOwn(stage, '$match')) break;
    stages[at] = { $match: await withConstraints(space, resource, getOwn(stage, '$match'), context, actor) };
  }
  return stages;
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
