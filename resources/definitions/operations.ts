// The operations on definitions, the same for every kind: the kind's `define` checks a definition, and this module stores it and puts it in
// force.

import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, type Initiator, withoutAnswers } from '../../runtime/context/index.ts';
import { matches, parseProps, parseSort, parseWhere, type Predicate, BudgetExceeded, withAllowance } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { namesNothing, type TypeDefinition } from '../../model/types/index.ts';
import { toJson } from '../../model/values/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { inSlices, resultsOf } from '../../platform/structures/index.ts';
import { changedInTurn, pageOf, type Selected } from '../instances/index.ts';
import { idOf, stampChanged, stampNew, versionOf, projected } from '../representation/index.ts';
import { accompanied, admit, definitionsFor, isThereFor } from '../access/index.ts';
import { type DefinitionResource, type Namespace, definitionWrite, omit } from '../catalog/index.ts';
import { comparedForm } from './compared-form.ts';
import { following } from './follow.ts';
import { compareBy } from './sort.ts';

/** Stores a new definition, or changes the one of that name where its kind allows it. Gives the stored object. */
export async function putDefinition(
  space: Namespace,
  kind: DefinitionResource,
  body: Value,
  actor: Actor,
  upsert: boolean,
): Promise<ObjectValue> {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  if (upsert) requireKey(kind, body);
  let name = Object.hasOwn(body, 'ruleText') ? null : getOwn(body, 'name'); // a text has a name of its own
  return changedInTurn(
    space,
    () => (typeof name === 'string' ? lineOf(kind, name) : null),
    async () => {
      const named = nameIn(space, kind, body);
      if (named !== undefined) return again(space, kind, named, body, actor, upsert);
      const defined = await kind.define(space, body, null, actor);
      name = defined.name;
      if (!space.catalog.definitions.get(kind.name, name)) return store(space, kind, defined, null, actor);
      return again(space, kind, name, body, actor, upsert);
    },
  );
}

/** The queue of those who change a definition. */
export const lineOf = (kind: DefinitionResource, name: string): string => `definitions/${kind.name}/${name}`;

/** An UPSERT finds by the natural key, which a program's text has in it. @throws cascade.upsert.key.missing */
function requireKey({ name, type }: DefinitionResource, body: ObjectValue): void {
  if (Object.hasOwn(body, 'ruleText') && getOwn(body, 'ruleText') !== null) return;
  if (type.naturalKey.some((key) => !Object.hasOwn(body, key) || getOwn(body, key) === null))
    throw apiError('cascade.upsert.key.missing', name, type.naturalKey.join(', '));
}

/** Changes an existing definition, where the kind allows it. */
async function again(
  space: Namespace,
  kind: DefinitionResource,
  name: string,
  body: ObjectValue,
  actor: Actor,
  upsert: boolean,
): Promise<ObjectValue> {
  const stored = space.catalog.definitions.get(kind.name, name) ?? {};
  const onExisting = typeof kind.onExisting === 'function' ? kind.onExisting(stored) : kind.onExisting;
  if (!upsert && onExisting === 'conflict') {
    (await kind.define(space, body, null, actor)).abandon?.(); // errors of the definition itself come first (resources-and-api.md 2)
    throw duplicate(kind, name);
  }
  return changeOnce(space, kind, name, () => withoutVersion(body), actor);
}

/** The stored definition that a body names without a program text, which would have a name of its own. */
function nameIn(space: Namespace, kind: DefinitionResource, body: ObjectValue): string | undefined {
  if (Object.hasOwn(body, 'ruleText') || !Object.hasOwn(body, 'name')) return undefined;
  const name = getOwn(body, 'name');
  return typeof name === 'string' && (space.catalog.definitions.get(kind.name, name) || changeableAt(space, kind, name)) ? name : undefined;
}

export const withoutVersion = (body: ObjectValue): ObjectValue => omit(body, ['ars_version']);

const duplicate = (kind: DefinitionResource, name: string) => apiError('cascade.resource.duplicate.key', kind.name, `name=${name}`);

/** The properties to change, worked out of the stored definition: where others change it meanwhile, again. */
export type ChangeOf = (stored: ObjectValue) => ObjectValue | Promise<ObjectValue>;

/** Changes the named properties of a definition. @throws cascade.resource.not.found */
export async function changeDefinition(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  body: Value,
  actor: Actor,
): Promise<ObjectValue> {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  return changeDefinitionBy(space, kind, id, () => body, actor);
}

/** @param version the expected one @throws cascade.resource.not.found, update.authorization.or.version.conflict */
export async function changeDefinitionBy(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  change: ChangeOf,
  actor: Actor,
  version?: bigint,
): Promise<ObjectValue> {
  const line = lineOf(kind, space.catalog.definitions.find(kind.name, id)?.name ?? id);
  return changedInTurn(
    space,
    () => line,
    () => changeOnce(space, kind, id, change, actor, version),
  );
}

async function changeOnce(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  change: ChangeOf,
  actor: Actor,
  version?: bigint,
): Promise<ObjectValue> {
  const { name, object: stored } = findDefinition(space, kind, id, 'update', actor);
  kind.requireChangeable?.(stored);
  requireVersion(kind, name, stored, version);
  const body = await change(stored);
  if (namesNothing(body) && actor.takesOver === undefined) return visible(kind, stored);
  if (Object.hasOwn(body, 'name') && getOwn(body, 'name') !== getOwn(stored, 'name'))
    throw apiError('cascade.resource.key.immutable', kind.name, 'name');
  const defined = await kind.define(space, merged(kind, stored, body), stored, actor);
  return store(space, kind, defined, stored, actor);
}

/** @throws cascade.update.authorization.or.version.conflict */
export function requireVersion(kind: DefinitionResource, name: string, stored: ObjectValue, version: bigint | undefined): void {
  if (version !== undefined && version !== versionOf(stored))
    throw apiError('cascade.update.authorization.or.version.conflict', `/${kind.name}/${name}`, version, versionOf(stored));
}

/** A stored definition with the properties of a change. */
export function merged(kind: DefinitionResource, stored: ObjectValue, changes: ObjectValue): ObjectValue {
  const all: ObjectValue = {};
  for (const source of [omit(stored, replacedBy(kind, changes)), changes])
    for (const key of Object.keys(source)) setOwn(all, key, getOwn(source, key));
  return all;
}

/** The stored properties that the properties of a change replace. */
const replacedBy = ({ replaces = {} }: DefinitionResource, body: ObjectValue): string[] =>
  Object.keys(replaces).flatMap((name) => (Object.hasOwn(body, name) && getOwn(body, name) !== null ? (replaces[name] ?? []) : []));

async function store(
  space: Namespace,
  kind: DefinitionResource,
  defined: Awaited<ReturnType<DefinitionResource['define']>>,
  stored: ObjectValue | null,
  actor: Actor,
): Promise<ObjectValue> {
  try {
    return await prepareAndStore(space, kind, defined, stored, actor);
  } catch (error) {
    defined.abandon?.();
    throw error;
  }
}

async function prepareAndStore(
  space: Namespace,
  kind: DefinitionResource,
  defined: Awaited<ReturnType<DefinitionResource['define']>>,
  stored: ObjectValue | null,
  actor: Actor,
): Promise<ObjectValue> {
  const object = stored ? stampChanged(defined.object, stored, actor) : stampNew(defined.object, actor);
  const change = { operation: stored ? 'update' : 'insert', resource: kind, before: stored, after: object, initiator: actor } as const;
  await admit(space, change);
  await defined.prepare?.(object);
  const separately = withoutAnswers(actor);
  for (const { kind: other, name, changes } of defined.along ?? [])
    if (space.catalog.definitions.get(other.name, name)) await changeDefinition(space, other, name, changes, separately);
  const seen = visible(kind, object);
  const events = raise(space, `/types/system.${kind.name}/${stored ? 'update' : 'insert'}`, seen, actor);
  const replaced = stored === changeableAt(space, kind, defined.name) ? null : stored; // a definition of the service is not stored yet
  const writes = kind.isTransient?.(object) ? [] : [definitionWrite(kind.name, defined.name, object, replaced, defined.beside?.(object))];
  const commit = actor.commit(accompanied(space, change, { writes, events }), { ok: encodeInner(seen) });
  await following(space, [[kind.name, defined.name]], commit);
  space.catalog.definitions.put(kind.name, defined.name, object);
  defined.apply(object);
  await defined.settle?.();
  return seen;
}

/** The definition without hidden properties. */
export const visible = (kind: DefinitionResource, object: ObjectValue): ObjectValue =>
  kind.hidden === undefined ? object : omit(object, [kind.hidden]);

/**
 * The stored definition for a change or deletion.
 * @throws cascade.resource.not.found, also when it is hidden from the caller; cascade.authorization.denied for those of the service
 */
export function findDefinition(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  operation: 'update' | 'delete',
  { identity }: Pick<Initiator, 'identity'>,
): { name: string; object: ObjectValue } {
  const found = space.catalog.definitions.find(kind.name, id);
  if (found && !isThereFor(space, kind, found.object, identity)) throw notFound(kind, id);
  if (found) return found;
  const builtIn = operation === 'update' ? changeableAt(space, kind, id) : undefined;
  if (builtIn) return { name: String(getOwn(builtIn, 'name')), object: builtIn };
  if (builtInAt(space, kind, id)) throw kind.refuseBuiltIn?.(id) ?? apiError('cascade.authorization.denied', operation, kind.name);
  throw notFound(kind, id);
}

/** The external form of a definition. @throws cascade.resource.not.found */
export function readDefinition(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  { identity }: Pick<Initiator, 'identity'>,
): ObjectValue {
  const found = space.catalog.definitions.find(kind.name, id)?.object ?? builtInAt(space, kind, id);
  if (!found || !isThereFor(space, kind, found, identity)) throw notFound(kind, id);
  return shown(space, kind, found);
}

const changeableAt = (space: Namespace, kind: DefinitionResource, id: string): ObjectValue | undefined =>
  kind.storesBuiltIn ? builtInAt(space, kind, id) : undefined;

function builtInAt(space: Namespace, kind: DefinitionResource, id: string): ObjectValue | undefined {
  const builtIn = kind.builtIn?.(space);
  return builtIn?.get(id) ?? [...(builtIn?.values() ?? [])].find((object) => idOf(object) === id);
}

export const shown = (space: Namespace, kind: DefinitionResource, stored: ObjectValue): ObjectValue => kind.show?.(space, stored) ?? stored;

/** A where-object as a checked condition on this kind, for this caller. */
export function definitionCondition(kind: DefinitionResource, where: Value, actor: Actor): Predicate {
  if (!isObject(where)) throw apiError('cascade.request.parameter.invalid', 'where', where);
  return parseWhere(where, kind.type, { username: actor.identity.username, namespace: actor.identity.namespace, now: actor.clock.now() });
}

/** The stored definitions that satisfy a condition, in the order of creation. */
export function matchingStored(
  space: Namespace,
  kind: DefinitionResource,
  where: Value,
  actor: Actor,
): [name: string, object: ObjectValue][] {
  const predicate = definitionCondition(kind, where, actor);
  const compared = comparedForm(kind.type);
  return inTime(() =>
    definitionsFor(space, kind, actor.identity).filter(([, object]) => matches(predicate, compared(shown(space, kind, object)))),
  );
}

/** The definitions that satisfy a condition, those of the service first, in their external form. */
export function matching(space: Namespace, kind: DefinitionResource, where: Value, actor: Actor): ObjectValue[] {
  const predicate = definitionCondition(kind, where, actor);
  const all = [...(kind.builtIn?.(space).values() ?? []), ...definitionsFor(space, kind, actor.identity).map(([, object]) => object)];
  const compared = comparedForm(kind.type);
  return inTime(() => all.map((object) => shown(space, kind, object)).filter((object) => matches(predicate, compared(object))));
}

/** Bound of the work of a condition's patterns, and of lists beside many values, in iterations of a loop: less than a second. */
const MOST_TURNS = 10_000_000;

function inTime<T>(choose: () => T): T {
  try {
    return withAllowance(MOST_TURNS, choose);
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    throw apiError('cascade.query.too.expensive', error.call.operator === 'in' ? 'listElements' : 'regex');
  }
}

export const selectDefinitions = (
  space: Namespace,
  kind: DefinitionResource,
  parameters: Readonly<Record<string, Value>>,
  actor: Actor,
): Promise<Selected> => selectedFrom(space, matching(space, kind, parameters['where'] ?? {}, actor), kind.type, parameters);

/** Rows that are written at once; more of them in slices. */
const FEW_ROWS = 64;

/** The page of these objects for a request. */
export async function selectedFrom(
  space: Namespace,
  found: ObjectValue[],
  type: TypeDefinition,
  parameters: Readonly<Record<string, Value>>,
): Promise<Selected> {
  found.sort(compareBy(parameters['sort'] === undefined ? [] : parseSort(parameters['sort'], type)));
  const props = parameters['props'] === undefined ? null : parseProps(parameters['props']);
  const page = pageOf(parameters);
  const rows = found.slice(page.skip, page.skip + page.limit);
  const texts = textsOf(rows, props);
  const json = `[${(rows.length > FEW_ROWS ? await inSlices(resultsOf(space.name), texts) : [...texts]).join(',')}]`;
  const truncated = page.capped && found.length > page.limit;
  return parameters['count'] === true ? { json, truncated, count: found.length } : { json, truncated };
}

function* textsOf(rows: readonly ObjectValue[], props: readonly string[] | null): Generator<string> {
  for (const row of rows) yield definitionJson(row, props);
}

/** The REST text of a definition, projected to the requested properties. */
export const definitionJson = (object: ObjectValue, props: readonly string[] | null = null): string =>
  toJson(props && props.length > 0 ? projected(object, props) : object);

const notFound = (kind: DefinitionResource, id: string) => apiError('cascade.resource.not.found', `/${kind.name}/${id}`);
