// What is sent to a source and asked of it (integrations.md 1.4, 1.5, 1.9). Where it is mocked, procedures stand for the outside.
import { langError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { fault } from '../../model/errors/faults.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { raise } from '../../runtime/events/events.ts';
import { creatorOf } from '../../resources/access/rights.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { sourcePath } from './inbound.ts';
import { SOURCE_KINDS } from './kinds.ts';
import { isActive, isMocked, noConnection, own } from './state.ts';
import { sourceCountsOf } from './namespace-state.ts';

/** @throws cascade.resource.not.found */
export function sourceNamed(space: Namespace, name: string): ObjectValue {
  const found = space.definitions.find('sources', name);
  if (!found) throw fault('cascade.resource.not.found', `/sources/${name}`);
  return found.object;
}

/** @throws cascade.source.inactive, .direction */
function requireOutwards(source: ObjectValue): string {
  const name = String(own(source, 'name'));
  if (!isActive(source)) throw fault('cascade.source.inactive', name, 'it is not active');
  return name;
}

/**
 * Sends. Nothing is told back; an echo raises the source's own event (integrations.md 1.4).
 * @param using merged into the request, its keys win
 * @throws cascade.resource.not.found, cascade.source.direction, .inactive, .unavailable, cascade.lang.publish.value, what a mock throws
 */
export async function publishToSource(space: Namespace, id: string, value: Value, using: Value, actor: Actor): Promise<void> {
  const source = sourceNamed(space, id);
  if (!isObject(value)) throw langError('cascade.lang.publish.value', typeName(value), 'PUBLISH TO SOURCE');
  const name = requireOutwards(source);
  if (own(source, 'direction') === 'SOURCE') throw fault('cascade.source.direction', name, 'nothing is sent to it');
  if (!isMocked(source)) throw unavailable(space, source, name);
  const request: ObjectValue = {};
  for (const part of [value, isObject(using) ? using : {}]) for (const key of Object.keys(part)) setOwn(request, key, getOwn(part, key));
  await mock(space, source, 'publish', 'pubDesc', request, actor);
  sourceCountsOf(space).add(name, 'published', space.clock.now());
  const echo = own(own(source, 'config') as ObjectValue, 'echoPublish') === true;
  const message = Object.hasOwn(request, 'message')
    ? getOwn(request, 'message')
    : Object.hasOwn(request, 'body')
      ? getOwn(request, 'body')
      : request;
  const events = echo ? raise(space, sourcePath(name), message, actor, { except: new Set(actor.chain.via ?? []) }) : [];
  await actor.commit({ writes: [], events }, { ok: 'null' });
}

/**
 * Asks. Gives the one row, the response's body.
 * @throws cascade.resource.not.found, cascade.source.direction, .inactive, .query.unsupported, .unavailable, what a mock throws
 */
export async function querySource(space: Namespace, id: string, request: ObjectValue, actor: Actor): Promise<Value> {
  const source = sourceNamed(space, id);
  const name = requireOutwards(source);
  if (own(source, 'direction') === 'SINK') throw fault('cascade.source.direction', name, 'it cannot be asked');
  if (isMocked(source)) return mock(space, source, 'query', 'queryDesc', withDefaults(source, request), actor);
  if (SOURCE_KINDS[String(own(source, 'type'))]?.hasQuery !== true)
    throw fault('cascade.source.query.unsupported', name, 'it has no queries');
  throw unavailable(space, source, name);
}

function unavailable(space: Namespace, source: ObjectValue, name: string): Error {
  sourceCountsOf(space).add(name, 'failed', space.clock.now());
  return fault('cascade.source.unavailable', name, noConnection(source));
}

/** The properties of a request document (integrations.md 2.2), which WITH may spell in any case. */
const REQUEST_PROPERTIES = new Map(
  (
    'method path query fragment headers body parts contentType acceptType responseType requestTimeout asFullResponse asFullExchange ' +
    'includeRedirect saveAs'
  )
    .split(' ')
    .map((name) => [name.toLowerCase(), name]),
);

/** `requestDefaults`, then the request: `headers` and `query` key by key, all else whole (integrations.md 2.2). */
function withDefaults(source: ObjectValue, request: ObjectValue): ObjectValue {
  const defaults = own(own(source, 'config') as ObjectValue, 'requestDefaults');
  const merged: ObjectValue = {};
  for (const part of [isObject(defaults) ? defaults : {}, request])
    for (const written of Object.keys(part)) {
      const key = REQUEST_PROPERTIES.get(written.toLowerCase()) ?? written;
      const [before, value] = [own(merged, key), getOwn(part, written)];
      const byKey = (key === 'headers' || key === 'query') && isObject(before) && isObject(value);
      setOwn(merged, key, byKey ? mergedKeys(before, value, key === 'headers') : value);
    }
  return merged;
}

function mergedKeys(before: ObjectValue, after: ObjectValue, withoutCase: boolean): ObjectValue {
  const key = (name: string): string => (withoutCase ? name.toLowerCase() : name);
  const replaced = new Set(Object.keys(after).map(key));
  const merged: ObjectValue = {};
  for (const name of Object.keys(before)) if (!replaced.has(key(name))) setOwn(merged, name, getOwn(before, name));
  for (const name of Object.keys(after)) setOwn(merged, name, getOwn(after, name));
  return merged;
}

/** What the procedure gives that stands for the outside; null without one. A failure counts as one of the source. */
async function mock(...asked: Parameters<typeof mocked>): Promise<Value> {
  const [space, source] = asked;
  try {
    return await mocked(...asked);
  } catch (error) {
    sourceCountsOf(space).add(String(own(source, 'name')), 'failed', space.clock.now());
    throw error;
  }
}

/** It runs as the creator of the source. */
async function mocked(
  space: Namespace,
  source: ObjectValue,
  which: 'query' | 'publish',
  parameter: string,
  request: ObjectValue,
  actor: Actor,
): Promise<Value> {
  const procedures = own(source, 'mockProcedures');
  const named = isObject(procedures) ? own(procedures, which) : null;
  if (named === null) return null;
  const procedure = space.definitions.find('procedures', String(named));
  if (!procedure) throw fault('cascade.resource.not.found', `/procedures/${String(named)}`);
  const json = await runDirect(space.runs, {
    executable: { resource: `/procedures/${procedure.name}`, name: procedure.name, service: null },
    body: { program: null, procedure: procedure.name },
    argsJson: '[]',
    namedJson: encodeInner({ [parameter]: request }),
    identity: await creatorOf(space, source),
    caller: actor,
    snapshot: true,
  });
  return decodeInner(json);
}

function typeName(value: Value): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'List' : typeof value === 'string' ? 'String' : typeof value === 'boolean' ? 'Boolean' : 'value';
}
