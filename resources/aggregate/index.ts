// AGGREGATE (resources-and-api.md 2.9, 3.6): a pipeline of the caller, checked stage by stage and rebuilt before the store sees it.

import { type Document, MongoServerError } from 'mongodb';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply } from '../api.ts';
import { type ConditionContext, toFilter } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { DEFINITIONS, instancesOf, type InstanceResource, type Namespace, type Resource } from '../catalog/index.ts';
import { asRefusedShape, pipelineLimit } from '../../platform/mongo/index.ts';
import { AHEAD_BYTES, LARGE_RESULTS, readAhead } from '../representation/index.ts';
import { atOnce } from '../../model/types/index.ts';
import { Budget } from './expressions.ts';
import { restriction } from '../access/index.ts';
import { ofEach, toShown, toShownMembers, withConstraints } from '../scalars/index.ts';
import { definitionRows, givenRows, type Rows } from './memory-rows.ts';
import { computedPart, rowToJson, rowToTypedJson, typedPart, typedPartInPieces } from './results.ts';
import { shapeOf } from './shape.ts';
import { buildPipeline } from './stages.ts';

const LONGEST_MS = 60_000;
/** The store's codes for an exceeded memory limit, with and without use of the disk. The reader reports exceeded time. */
const TOO_MUCH_MEMORY = new Set<unknown>([146, 292]);
/** Bytes read before the first piece: mostly the result ends within them, so that no second query has to find out whether it is cut. */
const READ_AHEAD_BYTES = 4 * 1024 * 1024;
const ROWS_AT_ONCE = 100;

export interface Written {
  /** Whether a long result may be sent in pieces. */
  readonly streams: boolean;
  /** Whether a Real is written with its point, to differ from an Integer. */
  readonly exactReals: boolean;
  /** Whether values keep their types, for another installation. */
  readonly isTyped: boolean;
  /** Bound of the rows. */
  readonly most: number;
}

/**
 * The rows as JSON: one text, or pieces where the result is long and `streams` allows it.
 * @throws cascade.query.…, cascade.request.body.invalid
 */
export async function aggregate(
  space: Namespace,
  resource: Resource | Rows,
  pipeline: Value,
  actor: Actor,
  { streams, exactReals, isTyped, most }: Written,
): Promise<Pick<ApiReply, 'body' | 'pieces' | 'truncated'>> {
  const isDefinition = resource.kind === 'definitions';
  const condition = { username: actor.identity.username, namespace: actor.identity.namespace, now: actor.clock.now() };
  const prepared = resource.kind === 'instances' ? await withFirstMatches(space, resource, pipeline, condition, actor) : pipeline;
  const allowed = resource.kind === 'instances' ? restriction(space, resource, 'aggregate', actor) : null;
  const { stages, shape } = buildPipeline(prepared, shapeOf(resource.type, resource.kind !== 'instances'), {
    budget: new Budget(),
    condition: { ...condition, patterns: { turns: 0 } },
    typeNamed: (name) => {
      const type = space.catalog.types.get(name);
      if (!type) throw apiError('cascade.resource.type.not.found', name);
      return type;
    },
    visible: (type) => {
      const seen = restriction(space, instancesOf(type), 'select', actor);
      return seen && toFilter(seen);
    },
    removedFrom: (type) => space.catalog.definitions.removedFrom(type),
    front: allowed ? toFilter(allowed) : {},
    nested: false,
  });
  const before =
    resource.kind === 'rows' ? givenRows(resource) : resource.kind === 'definitions' ? definitionRows(space, resource, actor.identity) : [];
  const removed = resource.kind === 'instances' ? space.catalog.definitions.removedFrom(resource.type) : [];
  const hidden = isDefinition && resource.hidden !== undefined ? [resource.hidden] : [];
  const secrets = [...resource.type.properties.values()]
    .filter(({ encrypted }) => encrypted)
    .map(({ name }) => name)
    .concat(resource.type.secrets, hidden, removed);
  const [first, ...rest] = stages;
  const leads = first !== undefined && '$geoNear' in first;
  const whole = [...before, ...(leads ? [first] : []), ...(secrets.length > 0 ? [{ $unset: secrets }] : []), ...(leads ? rest : stages)];
  const read = whole.concat({ $limit: most + 1 });
  const collection = resource.kind === 'instances' ? resource.collection : DEFINITIONS;
  const maxTimeMS = pipelineLimit(stages, LONGEST_MS);
  const rows = space.storage.rows.aggregate(collection, read, { maxTimeMS, allowDiskUse: false, isSlow: true });
  const ahead = await readAhead(space.storage.rows, rows, streams ? READ_AHEAD_BYTES : null).catch((error: unknown) => {
    throw asApiError(space, collection, error, read);
  });
  try {
    const isMore = ahead.isAll ? ahead.rows.length > most : await hasMore(space, collection, whole, most, maxTimeMS);
    const truncated = isMore ? { truncated: true } : {};
    const write = async (batch: readonly Uint8Array[]): Promise<string[]> => {
      const parts = await ofEach(
        space,
        batch,
        (row) => typedPart(shape, row),
        (row) => typedPartInPieces(shape, row),
      );
      const typed = await toShown(space, shape.type, parts, actor);
      const made = shape.computed.size > 0 ? batch.map((row) => computedPart(shape, row)) : [];
      const computed = await toShownMembers(space, { properties: shape.computed }, made, actor);
      const ownOf = (index: number) => ({ typed: typed[index] as ObjectValue, computed: computed[index] ?? {} });
      const inPieces = (row: Uint8Array, index: number) =>
        isTyped ? rowToTypedJson(shape, row, ownOf(index)) : rowToJson(shape, row, ownOf(index), exactReals);
      return ofEach(space, batch, (row, index) => atOnce(inPieces(row, index)), inPieces);
    };
    if (ahead.isAll && (!streams || ahead.bytes <= AHEAD_BYTES)) {
      const texts = await write(isMore ? ahead.rows.slice(0, most) : ahead.rows);
      return { body: `[${texts.join(',')}]`, ...truncated };
    }
    // Rows that were read ahead are written in pieces, too.
    const batches = inBatches(ahead.rows);
    const next = async (): Promise<string[]> => write(batches.shift() ?? (await rows.next()));
    const elements = { first: [], next, most, write: (text: string) => text, close: () => rows.close() };
    return { pieces: await space.states.get(LARGE_RESULTS).begin(elements), ...truncated };
  } catch (error) {
    await rows.close();
    throw error;
  }
}

/** Whether there are more rows than the cap, for results that are sent while they are read. */
async function hasMore(
  space: Namespace,
  collection: string,
  stages: readonly Document[],
  most: number,
  maxTimeMS: number,
): Promise<boolean> {
  const beyond = [...stages, { $skip: most }, { $limit: 1 }, { $project: { _id: 1 } }];
  const rows = space.storage.rows.aggregate(collection, beyond, { maxTimeMS, allowDiskUse: false, isSlow: true });
  return (await readAhead(space.storage.rows, rows, null)).rows.length > 0;
}

function inBatches(rows: readonly Uint8Array[]): (readonly Uint8Array[])[] {
  return Array.from({ length: Math.ceil(rows.length / ROWS_AT_ONCE) }, (_, n) => rows.slice(n * ROWS_AT_ONCE, (n + 1) * ROWS_AT_ONCE));
}

/** The $match stages at the beginning, with the constants of scalars in their stored form; later stages see computed documents. */
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

/** An error of the store about the pipeline as an error of the API; other errors unchanged. */
function asApiError(space: Namespace, collection: string, error: unknown, stages: readonly Document[]): unknown {
  if (!(error instanceof MongoServerError) || error.hasErrorLabel('TransientTransactionError')) return error;
  if (TOO_MUCH_MEMORY.has(error.code)) return apiError('cascade.query.too.expensive', 'memory');
  if (!isAboutThePipeline(error)) return error;
  space.log.debug({ err: error, collection }, 'the store refused or ended a pipeline');
  return asRefusedShape(error, stages) ?? apiError('cascade.query.operand.invalid', '', 'pipeline');
}

/** Errors of evaluation have codes of their own, or one of these; the driver names those of a store that is unavailable. */
const isAboutThePipeline = ({ code }: MongoServerError): boolean =>
  typeof code === 'number' &&
  (code >= 10_000
    ? code < 30_000_000 && code !== 11_600 && code !== 11_602 && code !== 13_435 && code !== 13_436 && code !== 10_107
    : [2, 9, 14, 15, 40, 241].includes(code));
export { aggregateRows } from './aggregate-rows.ts';
