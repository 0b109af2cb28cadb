// The requests of programs to the host (stdlib/isolate/protocol.ts, OpPayloads): the same operations as a client's, with the results that
// the rule language defines (language.md 5).

import { langError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, type Initiator, checkpointing, committing } from '../../runtime/context/index.ts';
import type { Answer, UnitOfWork } from '../../runtime/transactions/index.ts';
import { type InstanceQuery, instanceQuery, namedPath, toFilter } from '../../model/query/index.ts';
import { apiError, refusalOfOne } from '../../model/errors/index.ts';
import { runDurably } from '../../runtime/runs/index.ts';
import { type Namespace, type Resource, type ProgramOperation } from '../catalog/index.ts';
import {
  CURSORS,
  type Failed,
  condition,
  conditionAsked,
  read,
  readById,
  followedInstance,
  hasRulesBefore,
  insertAtOnce,
  insertMany,
  mustBeObject,
  insertOne,
  changeOf,
  innerText,
  innerValue,
  LONG_TEXT,
  updateMany,
  updateOne,
  versionIn,
  upsertOne,
  computedIn,
  updateComputed,
} from '../instances/index.ts';
import {
  changeDefinitionBy,
  definitionCondition,
  matchingStored,
  putDefinition,
  deleteInstance,
  deleteInstances,
  deleteWithDependents,
  shown as shownDefinition,
} from '../definitions/index.ts';
import { namesNothing } from '../../model/types/index.ts';
import { requireEvictionTopic, acting, ownOnly, requireRight, withOwn } from '../access/index.ts';
import { toShown, toStored } from '../scalars/index.ts';
import { endedBy } from './ended.ts';
import { describe } from './describe.ts';
import { failureOf, noteFailure, outcome } from './on-error.ts';
import { refused, text, typeName } from './payload.ts';
import { changeable, changeableAccount, definitionKind } from './addressed.ts';
import { call, execute, executeAll } from './calls.ts';
import { open, select } from './select.ts';

/** Statements on instances and definitions; features register their own. */
const OPERATIONS: Readonly<Record<string, ProgramOperation>> = {
  select,
  open,
  next: async (space, payload) => ({ ok: await space.states.get(CURSORS).next(text(payload, 'cursor')) }),
  close: async (space, payload) => {
    await space.states.get(CURSORS).close(text(payload, 'cursor'));
    return { ok: 'null' };
  },
  insert,
  upsert,
  update,
  delete: remove,
  execute,
  call,
  executeAll,
  describe,
  state: (space, payload, actor) => {
    if (!actor.state) throw refused('state outside of a run');
    requireEvictionTopic(space, payload, actor.identity);
    return space.execution.sharedState.perform(payload, actor.state);
  },
  builtin: async (space, payload, actor) => {
    const name = text(payload, 'name');
    const answer = space.catalog.features.builtins.get(name);
    if (!answer) throw langError('cascade.lang.procedure.unknown', name);
    return answer(space, getOwn(payload, 'args') as Value[], actor);
  },
  create: async (space, payload, actor) => {
    const resource = definitionKind(space, text(payload, 'kind'));
    requireRight(space, resource, 'insert', actor.identity);
    const value = getOwn(payload, 'value');
    const body: Value = typeof value === 'string' ? { ruleText: value } : value;
    const options = getOwn(payload, 'options');
    if (isObject(body) && isObject(options) && Object.hasOwn(options, 'active')) setOwn(body, 'active', getOwn(options, 'active'));
    return { ok: encodeInner(await putDefinition(space, resource, body, actor, true)) };
  },
  drop: async (space, payload, actor) => {
    const resource = definitionKind(space, text(payload, 'kind'));
    requireRight(space, resource, 'delete', actor.identity);
    const given = getOwn(payload, 'name');
    const names = Array.isArray(given) ? (given as string[]) : [text(payload, 'name')];
    const name = names.find((one) => space.catalog.definitions.get(resource.name, one) !== undefined);
    await deleteWithDependents(space, resource, name ?? (names[0] as string), actor);
    return { ok: 'null' };
  },
};

/** Carries out one request of a program with the present rights of its user. @throws CascadeError, VersionConflict, RestartRun */
export async function perform(space: Namespace, kind: string, payloadJson: string, actor: Actor): Promise<Answer> {
  const operation = Object.hasOwn(OPERATIONS, kind) ? OPERATIONS[kind] : space.catalog.features.operations.get(kind);
  if (!operation) throw refused(kind);
  const known = acting(space, actor.identity);
  const identity = known instanceof Promise ? await known : known;
  const payload = innerValue(space, payloadJson);
  return operation(space, (payload instanceof Promise ? await payload : payload) as ObjectValue, { ...actor, identity });
}

/**
 * The unit of a program's request, where only its commit has to be waited for; null where that is not so, or this throws: then the caller
 * uses `perform`.
 */
export function changeAtOnce(space: Namespace, kind: string, payloadJson: string, initiator: Initiator): UnitOfWork | null {
  if (kind !== 'insert' || payloadJson.length >= LONG_TEXT) return null;
  const payload = decodeInner(payloadJson) as ObjectValue;
  const values = getOwn(payload, 'values');
  if (!isObject(values) || getOwn(payload, 'series') === true) return null;
  const identity = acting(space, initiator.identity);
  if (identity instanceof Promise) return null;
  const resource = changeable(space, text(payload, 'resource'), 'insert', identity);
  if (resource.kind !== 'instances') return null;
  const ready = insertAtOnce(space, resource, values, { ...initiator, identity });
  return ready && 'unit' in ready ? ready.unit : null; // a request that has to wait is counted twice; near the limit it is counted anew
}

// ---------------------------------------------------------------- changes
async function insert(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const account = changeableAccount(space, payload, 'insert');
  const values = getOwn(payload, 'values');
  if (!isObject(values) && !Array.isArray(values)) throw langError('cascade.lang.insert.value', typeName(values), 'inserted');
  if (account) return account.put(space, values, false, actor);
  const resource = changeable(space, text(payload, 'resource'), 'insert', actor.identity);
  if (getOwn(payload, 'series') === true) checkSeries(values);
  if (resource.kind === 'definitions') {
    if (!Array.isArray(values)) return { ok: encodeInner(await putDefinition(space, resource, values, actor, false)) };
    return { ok: encodeInner(await inOrder(values, actor, (value, part) => putDefinition(space, resource, value, part, false))) };
  }
  // A rule before an instance sees those before it, and none runs for those behind a refused one (I3, O1).
  if (Array.isArray(values) && (resource.guard?.insert || hasRulesBefore(space, resource.type, 'insert'))) {
    const stored = await inOrder(values, actor, (value, part) => insertOne(space, resource, value, part), isStored);
    return { ok: await innerText(space, stored) };
  }
  if (Array.isArray(values)) return { ok: await innerText(space, await insertMany(space, resource, values, actor)) };
  return { ok: await innerText(space, await insertOne(space, resource, values, actor)) };
}

/** Checks the values of INSERT SERIES (language.md I6). */
function checkSeries(values: Value): void {
  for (const name of ['window', 'key'])
    if (!isObject(values) || !Object.hasOwn(values, name) || getOwn(values, name) === null)
      throw langError('cascade.lang.insert.series', name);
}

async function upsert(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const account = changeableAccount(space, payload, 'upsert');
  const values = getOwn(payload, 'values');
  if (!isObject(values) && !Array.isArray(values)) throw langError('cascade.lang.insert.value', typeName(values), 'upserted');
  if (account) return account.put(space, values, true, actor);
  const resource = changeable(space, text(payload, 'resource'), 'upsert', actor.identity);
  const one = (value: Value, by: Actor): Promise<ObjectValue | null> =>
    resource.kind === 'definitions' ? putDefinition(space, resource, value, by, true) : upsertOne(space, resource, value, by);
  return { ok: await innerText(space, Array.isArray(values) ? await inOrder(values, actor, one) : await one(values, actor)) };
}

/** Null: a BEFORE rule cancelled it. */
const isStored = (value: Value): boolean => value !== null;

/** Carries out changes one after the other, each as a part of the statement: a repetition after a crash takes stored parts as they are. */
async function inOrder(
  values: readonly Value[],
  actor: Actor,
  one: (value: Value, actor: Actor) => Promise<Value>,
  isResult: (value: Value) => boolean = () => true,
): Promise<Value[]> {
  const results: Value[] = [];
  for (const [number, value] of values.entries()) {
    mustBeObject(value, number);
    const note = actor.checkpoints?.get(number);
    const result = note === undefined ? await one(value, checkpointing(actor, number)) : decodeInner(note);
    if (isResult(result)) results.push(result);
  }
  if (values.length > 0) await actor.commit({ writes: [], events: [] }, { ok: encodeInner(results) });
  return results;
}

async function update(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const account = changeableAccount(space, payload, 'update');
  const values = getOwn(payload, 'values');
  const given = getOwn(payload, 'where');
  if (!isObject(values)) throw langError('cascade.lang.insert.value', typeName(values), 'used in UPDATE');
  const onError = getOwn(payload, 'onError') === true;
  if (account) return account.update(space, values, given, actor, onError);
  const resource = changeable(space, text(payload, 'resource'), 'update', actor.identity);
  const where = withOwn(given, ownOnly(space, resource, 'update', actor.identity));
  if (resource.kind === 'definitions') return { ok: encodeInner(await updateDefinitions(space, resource, values, where, actor, onError)) };
  const version = versionIn(resource, values);
  const query = instanceQuery(await conditionAsked(space, resource, where, actor), resource.type);
  if (version !== undefined && !query) throw apiError('cascade.update.version.query', resource.name);
  const received = withoutVersion(values);
  const locked = { version, isNothing: namesNothing(received) };
  const change = changeOf(
    resource,
    await toStored(space, resource.type, resource.receive?.(received, actor, false) ?? received, actor),
    space,
  );
  const resultOf = async (count: number, failed: readonly Failed[]): Promise<string> => {
    const instances = failed.map(({ instance }) => instance);
    const shown = await toShown(space, resource.type, instances, actor);
    return encodeInner(
      outcome(
        count,
        failed.map(({ error }, index) => failureOf(error, shown[index] ?? null)),
      ),
    );
  };
  if (query?.by === 'id' && (!onError || version === undefined)) {
    const id = idIn(query);
    const find = async (): Promise<ObjectValue> => followedInstance(resource, id, actor) ?? readById(space, resource, id, actor);
    if (onError)
      return { ok: await asCounted(find, (found, by) => updateOne(space, resource, found, change, by, locked), resultOf, actor) };
    const computed = version === undefined && !locked.isNothing ? computedIn(payload) : null;
    const shown = computed && (await updateComputed(space, resource, id, { values: received, change, computed }, actor));
    if (shown) return { ok: encodeInner(shown.instance) };
    return { ok: await innerText(space, await updateOne(space, resource, find, change, actor, locked)) };
  }
  if (version !== undefined) {
    const find = async (): Promise<ObjectValue> => {
      const [found] = await read(space, resource, toFilter(await condition(space, resource, where, actor)), 1);
      if (!found) throw apiError('cascade.resource.not.found', namedPath(resource.name, query, resource.type));
      return found;
    };
    const changeWith = (found: typeof find, by: Actor): Promise<ObjectValue | null> =>
      updateOne(space, resource, found, change, by, locked);
    if (onError) return { ok: await asCounted(find, changeWith, resultOf, actor) };
    return { ok: await innerText(space, await changeWith(find, actor)) };
  }
  if (locked.isNothing) {
    await actor.readSet?.standing();
    const [one, second] = await read(space, resource, toFilter(await condition(space, resource, where, actor, 'update')), 2);
    if (one && !second) {
      const shown = await updateOne(space, resource, async () => one, change, actor, locked);
      return { ok: onError ? await resultOf(1, []) : await innerText(space, shown) };
    }
  }
  const ok = await updateMany(space, resource, where, change, actor, onError ? resultOf : null);
  return { ok: ok ?? (await runDurably('update', payload, actor)) };
}

/** Changes the one instance of an UPDATE with ON ERROR. @throws errors of `find`: of no instance */
async function asCounted(
  find: () => Promise<ObjectValue>,
  change: (find: () => Promise<ObjectValue>, actor: Actor) => Promise<ObjectValue | null>,
  resultOf: (count: number, failed: readonly Failed[]) => Promise<string>,
  actor: Actor,
): Promise<string> {
  const last: { instance: ObjectValue | null } = { instance: null };
  const followed = async (): Promise<ObjectValue> => {
    last.instance = null; // what is gone when it is read again fails as what was never there
    return (last.instance = await find());
  };
  const done = { ok: await resultOf(1, []) };
  try {
    const answering = committing(actor, (unit, answer, part) => actor.commit(unit, answer && done, part));
    return (await change(followed, answering)) ? done.ok : await resultOf(0, []);
  } catch (error) {
    const refusal = refusalOfOne(error);
    if (!last.instance || !refusal) throw error;
    return resultOf(0, [{ error: refusal, instance: last.instance }]);
  }
}

const withoutVersion = (values: ObjectValue): ObjectValue => {
  const rest: ObjectValue = {};
  for (const key of Object.keys(values)) if (key !== 'ars_version') setOwn(rest, key, getOwn(values, key));
  return rest;
};

async function updateDefinitions(
  space: Namespace,
  resource: Resource & { kind: 'definitions' },
  values: ObjectValue,
  where: Value,
  actor: Actor,
  onError: boolean,
): Promise<Value> {
  const version = versionIn(resource, values);
  if (version !== undefined && !instanceQuery(definitionCondition(resource, where, actor), resource.type))
    throw apiError('cascade.update.version.query', resource.name);
  const found = matchingStored(space, resource, where, actor);
  const failures: Failures | null = onError ? { failed: [], show: (object) => shownDefinition(space, resource, object) } : null;
  const change = (name: string, part: Actor): Promise<ObjectValue> =>
    changeDefinitionBy(space, resource, name, () => values, part, version);
  const results = await eachDefinition(found, actor, change, failures);
  if (failures && found.length + results.length > 0) return outcome(results.length, failures.failed);
  if (results.length > 1) return results.length;
  if (results[0]) return results[0];
  unlessNamed(resource, where, actor);
  return failures ? outcome(0, []) : null;
}

/** Of a statement with ON ERROR. */
interface Failures {
  readonly failed: Value[];
  readonly show: (object: ObjectValue) => ObjectValue;
}

/** Does the same as `inOrder` for definitions found by a condition, which those of an earlier attempt may not satisfy any more. */
async function eachDefinition<T extends Value>(
  found: readonly [name: string, object: ObjectValue][],
  actor: Actor,
  one: (name: string, actor: Actor) => Promise<T>,
  failures: Failures | null = null,
): Promise<T[]> {
  const [only] = found;
  if (only && !failures && found.length === 1 && !actor.checkpoints?.size) return [await one(only[0], actor)];
  const notes = [...(actor.checkpoints?.values() ?? [])].map((text) => decodeInner(text) as ObjectValue);
  const results = notes.map((note) => getOwn(note, 'result') as T);
  const changed = new Set(notes.map((note) => getOwn(note, 'name')));
  for (const [name, object] of found) {
    if (changed.has(name)) continue;
    const number = results.length;
    const part = committing(actor, (unit, answer) => {
      const result = answer && 'ok' in answer ? decodeInner(answer.ok) : null;
      return actor.commit(unit, undefined, { number, note: encodeInner({ name, result }) });
    });
    try {
      results.push(await one(name, part));
    } catch (error) {
      noteFailure(failures?.failed ?? null, error, failures?.show(object) ?? null);
    }
  }
  const result = failures ? outcome(results.length, failures.failed) : results.length;
  if (results.length > 0) await actor.commit({ writes: [], events: [] }, { ok: encodeInner(result) });
  return results;
}

async function remove(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const account = changeableAccount(space, payload, 'delete');
  if (account) return account.remove(space, getOwn(payload, 'where'), actor);
  const resource = changeable(space, text(payload, 'resource'), 'delete', actor.identity);
  const where = withOwn(getOwn(payload, 'where'), ownOnly(space, resource, 'delete', actor.identity));
  if (resource.kind === 'definitions') {
    const found = matchingStored(space, resource, where, actor);
    if (found.length === 0) unlessNamed(resource, where, actor);
    const gone = await eachDefinition(found, actor, async (name, part) => {
      await deleteWithDependents(space, resource, name, part);
      return name;
    });
    return { ok: String(gone.length) };
  }
  const query = instanceQuery(await conditionAsked(space, resource, where, actor), resource.type);
  const ended = await endedBy(space, resource, where, actor);
  if (ended === 0 && query?.by === 'id') throw apiError('cascade.resource.not.found', namedPath(resource.name, query, resource.type));
  if (ended !== null) {
    const ok = String(ended);
    await actor.commit({ writes: [], events: [] }, { ok });
    return { ok };
  }
  if (query?.by !== 'id') {
    const count = await deleteInstances(space, resource, where, actor);
    return { ok: count === null ? await runDurably('delete', payload, actor) : String(count) };
  }
  const id = idIn(query);
  return { ok: String(await deleteInstance(space, resource, () => readById(space, resource, id, actor), actor)) };
}

const idIn = (query: InstanceQuery): string => String(query.values.get('_id'));

/** A condition that names one definition needs it to be there (language.md U2). @throws cascade.resource.not.found */
function unlessNamed(resource: Resource & { kind: 'definitions' }, where: Value, actor: Actor): void {
  const query = instanceQuery(definitionCondition(resource, where, actor), resource.type);
  if (query) throw apiError('cascade.resource.not.found', namedPath(resource.name, query, resource.type));
}
