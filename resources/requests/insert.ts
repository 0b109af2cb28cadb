// INSERT and UPSERT of one or several (resources-and-api.md 2.4, 2.6, 2.12).

import { CascadeError } from '../../stdlib/errors.ts';
import { decodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Actor, type Enqueue, checkpointing, committing } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { asError, finishWithin, longWork, SLICE_MS } from '../../platform/structures/index.ts';
import { CascadeErrors, errorDocument, apiError, retryAfterSeconds } from '../../model/errors/index.ts';
import { isLong } from '../../model/types/index.ts';
import { instanceToJsonInPieces, toJson } from '../../model/values/index.ts';
import { definitionJson, putDefinition, shown } from '../definitions/index.ts';
import {
  convertedInserts,
  hasRulesBefore,
  insertAtOnce,
  insertInPieces,
  insertOne,
  mustBeObject,
  type ReadyInsert,
  asApiError,
  tooFull,
  upsertOne,
} from '../instances/index.ts';
import { isConverted } from '../scalars/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { answersArray, bodyOf, counted, NO_CONTENT } from './request.ts';
import { instanceText, longInstanceText, typedIf } from './typed.ts';

const MOST_INSTANCES = 10_000;
/** Bound of the errors in one reply; each refused instance has at least its first one. */
const MOST_ERRORS = 20_000;

export async function insert(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor, upsert: boolean): Promise<ApiReply> {
  const body = addressed(space, resource, request, bodyOf(resource, request));
  if (!Array.isArray(body) && !isObject(body))
    throw apiError('cascade.request.body.invalid', 'an object or an array of objects is expected', 0);
  if (resource.kind === 'definitions' && resource.onCollection && isObject(body)) {
    const done = await resource.onCollection(space, body, actor);
    if (done) return done;
  }
  const one = (object: Value, by: Actor): Promise<ObjectValue | null> => {
    if (resource.kind === 'definitions')
      return putDefinition(space, (request.federation && resource.ofNodes?.()) ?? resource, object, by, upsert);
    return upsert ? upsertOne(space, resource, object, by) : insertOne(space, resource, object, by);
  };
  const textOf = (stored: ObjectValue): string =>
    resource.kind === 'instances' ? instanceText(request, resource.type, stored) : definitionJson(shown(space, resource, stored));
  const typed = typedIf(request, resource);
  if (!Array.isArray(body)) {
    const stored = await one(body, actor);
    if (stored === null) return { ...NO_CONTENT, ...counted(request, 0) };
    const text = resource.kind === 'instances' ? await longInstanceText(space, request, resource.type, stored) : textOf(stored);
    return { status: 200, body: answersArray(resource) ? `[${text}]` : text, ...counted(request, 1), ...typed };
  }
  if (body.length > MOST_INSTANCES) throw apiError('cascade.request.too.many.instances', MOST_INSTANCES);
  // Instances without user code in between share a batch, which keeps their order; otherwise, and for definitions, they are stored one
  // after the other.
  const apart =
    resource.kind === 'definitions' ||
    resource.guard?.insert !== undefined ||
    (resource.type.maxStorage > 0 && isConverted(resource.type)) ||
    upsert ||
    hasRulesBefore(space, resource.type, 'insert');
  // Each instance is a part of the request: the result of an earlier attempt is used as it was.
  const part: Part = async (object, number, handedOver) => {
    mustBeObject(object, number);
    const note = actor.checkpoints?.get(number);
    const stored =
      note === undefined ? await one(object, noting(checkpointing(actor, number), handedOver)) : (decodeInner(note) as ObjectValue);
    return stored && textOf(stored);
  };
  const { enqueue } = actor;
  if (enqueue && resource.kind === 'instances' && !apart) {
    const texts: Texts = new Map();
    const ready = await readyEach(space, resource, body, actor, request.federation?.isTyped ? null : texts);
    const text = (stored: ObjectValue): string => texts.get(stored) ?? textOf(stored);
    return { ...several(request, await insertedEach(resource, ready, text, enqueue)), ...typed };
  }
  return { ...several(request, await (apart ? inTurn(body, part) : pipelined(body, part))), ...typed };
}

/** An UPSERT at an address is of the definition there, which its name or `_id` names, else of a new one of that name (1.2, 4.14). */
function addressed(space: Namespace, { kind, name }: Resource, { op, resourceId }: ApiRequest, body: Value): Value {
  if (kind !== 'definitions' || op !== 'upsert' || resourceId === undefined || !isObject(body)) return body;
  return { ...body, name: space.catalog.definitions.nameAt(name, resourceId) };
}

/** The unit of an instance, or a function that stores it where preparing has to wait; an Error for an invalid instance. */
type Ready = ReadyInsert | (() => Promise<ObjectValue | null>) | Error;

/** Of long instances in their external form, made ahead: when they are stored there is no time. */
type Texts = Map<ObjectValue, string>;

/** Prepares the instances in slices, between which other work gets a turn. None is stored before all are ready: that keeps their order. */
async function readyEach(
  space: Namespace,
  resource: InstanceResource,
  bodies: readonly Value[],
  actor: Actor,
  texts: Texts | null,
): Promise<Ready[]> {
  if (isConverted(resource.type)) return convertedInserts(space, resource, bodies, actor);
  const all: Ready[] = [];
  const waits: Promise<void>[] = [];
  using work = longWork(space.name);
  let until = performance.now() + SLICE_MS;
  for (const [index, body] of bodies.entries()) {
    if (performance.now() > until) {
      await work.next();
      until = performance.now() + SLICE_MS;
    }
    try {
      mustBeObject(body, index);
      const isLongOne = isLong(body);
      const ready = isLongOne
        ? (await finishWithin(work, insertInPieces(space, resource, body, actor))).ready
        : insertAtOnce(space, resource, body, actor);
      if (ready instanceof Promise) {
        const place = all.push(NOT_ADMITTED) - 1;
        const admitted = (): void => void (all[place] = () => insertOne(space, resource, body, actor, true));
        waits.push(ready.then(admitted, (reason: unknown) => void (all[place] = asError(reason))));
        continue;
      }
      const full = ready && space.transactions.refusal(ready.unit);
      if (full) {
        // The others are refused, too, without being tried: a refusal must be cheaper than the work, or a flood of requests would stop
        // everything else.
        const refusal = tooFull(full);
        while (all.length < bodies.length) all.push(refusal);
        break;
      }
      if (isLongOne && ready && texts) texts.set(ready.shown, await finishWithin(work, instanceToJsonInPieces(resource.type, ready.shown)));
      all.push(ready ?? (() => insertOne(space, resource, body, actor)));
    } catch (error) {
      all.push(asError(error));
    }
  }
  await Promise.all(waits);
  return all;
}

/** Until its policies have answered. */
const NOT_ADMITTED = new Error('not admitted');

/** Inserts instances independently, in parallel. Callbacks in place of promises: a client may insert thousands. */
function insertedEach(
  resource: InstanceResource,
  all: readonly Ready[],
  textOf: (stored: ObjectValue) => string,
  enqueue: Enqueue,
): Promise<PromiseSettledResult<string | null>[]> {
  return new Promise((resolve) => {
    const results: PromiseSettledResult<string | null>[] = [];
    let open = all.length;
    if (open === 0) resolve(results);
    for (const [place, one] of all.entries()) {
      const settle = (result: PromiseSettledResult<string | null>): void => {
        results[place] = result;
        if (--open === 0) resolve(results);
      };
      const failed = (reason: unknown): void => settle({ status: 'rejected', reason });
      /** Must not throw: the committer calls others after it. */
      const stored = (instance: ObjectValue | null): void => {
        let value: string | null;
        try {
          value = instance && textOf(instance);
        } catch (error) {
          return failed(error);
        }
        settle({ status: 'fulfilled', value });
      };
      if (one instanceof Error) failed(one);
      else if (typeof one === 'function') void one().then(stored, failed);
      else
        enqueue(
          one.unit,
          () => stored(one.shown),
          (error) => failed(asApiError(error, resource, one.stamped)),
        );
    }
  });
}

/** Inserts several of another kind of resource, one after the other. */
export async function eachInserted(
  request: ApiRequest,
  bodies: readonly Value[],
  one: (body: Value) => Promise<string>,
): Promise<ApiReply> {
  if (bodies.length > MOST_INSTANCES) throw apiError('cascade.request.too.many.instances', MOST_INSTANCES);
  const element = async (body: Value, index: number): Promise<string> => {
    mustBeObject(body, index);
    return one(body);
  };
  return several(request, await inTurn(bodies, element));
}

/** @param handedOver called when it has been given to the store */
type Part = (body: Value, number: number, handedOver: () => void) => Promise<string | null>;

const noting = (actor: Actor, handedOver: () => void): Actor =>
  committing(actor, (...what) => {
    const stored = actor.commit(...what);
    handedOver();
    return stored;
  });

/** Begins each when the one before it has been handed over, or has failed: in their order, and many share a transaction. */
async function pipelined(bodies: readonly Value[], part: Part): Promise<PromiseSettledResult<string | null>[]> {
  const begun: Promise<string | null>[] = [];
  for (const [number, body] of bodies.entries())
    await new Promise<void>((next) => {
      const one = part(body, number, next);
      begun.push(one);
      one.then(
        () => next(),
        () => next(),
      );
    });
  return Promise.allSettled(begun);
}

async function inTurn(bodies: readonly Value[], one: Part): Promise<PromiseSettledResult<string | null>[]> {
  const results: PromiseSettledResult<string | null>[] = [];
  for (const [number, body] of bodies.entries()) results.push(...(await Promise.allSettled([one(body, number, () => undefined)])));
  return results;
}

/** The reply for several instances, some of which may have failed (resources-and-api.md 2.12). */
function several(request: ApiRequest, results: readonly PromiseSettledResult<string | null>[]): ApiReply {
  const errors = results.map((result) => (result.status === 'rejected' ? errorsOf(result.reason) : null));
  const failures = errors.filter((one) => one !== null).length;
  const count = counted(request, results.length - failures);
  if (failures === 0)
    return {
      status: 200,
      body: `[${results.map((one) => (one.status === 'fulfilled' ? (one.value ?? 'null') : '')).join(',')}]`,
      ...count,
    };
  const most = Math.max(1, Math.floor(MOST_ERRORS / failures));
  if (failures === results.length) {
    const documents = errors.flatMap((list, index) => (list ?? []).slice(0, most).map((error): Value => ({ ...documentOf(error), index })));
    const statuses = new Set(errors.map((list) => (list ? new CascadeErrors(list).status : 200)));
    const status = statuses.size === 1 ? ([...statuses][0] as number) : 400;
    const seconds = status === 429 && errors[0]?.[0] ? retryAfterSeconds(errors[0][0]) : null;
    return { status, body: toJson(documents), ...(seconds !== null && { retryAfterSeconds: seconds }), ...count };
  }
  const items = results.map((result, index) => {
    const list = errors[index];
    if (list)
      return `{"status":${new CascadeErrors(list).status},"errors":${toJson(list.slice(0, most).map((error): Value => documentOf(error)))}}`;
    const json = result.status === 'fulfilled' ? result.value : null;
    return json === null ? '{"status":204}' : `{"status":200,"body":${json}}`;
  });
  return { status: 200, body: `[${items.join(',')}]`, partial: true, ...count };
}

const documentOf = (error: CascadeError): ObjectValue => ({ ...errorDocument(error) });

function errorsOf(reason: unknown): CascadeError[] {
  if (reason instanceof CascadeErrors) return reason.errors;
  if (reason instanceof CascadeError) return [reason];
  throw reason;
}
