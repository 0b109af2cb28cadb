// Publishes to a source and queries it (integrations.md 1.4, 1.5, 1.9). For a mocked source, procedures answer.
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { type AnswerRoom, EgressError, isNamedSecret } from '../../platform/egress/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { calledAs, creatorOf } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { callerOf } from './documents.ts';
import { sourcePath } from './inbound.ts';
import { type Caller, type Connection, protocolOf } from './protocols/index.ts';
import { own } from './protocols/fields.ts';
import { isActive, isMocked } from './state.ts';
import { sourcesOf } from './namespace-state.ts';

/** @throws cascade.resource.not.found */
export function sourceNamed(space: Namespace, name: string): ObjectValue {
  const found = space.catalog.definitions.find('sources', name);
  if (!found) throw apiError('cascade.resource.not.found', `/sources/${name}`);
  return found.object;
}

/** @throws cascade.source.inactive, .direction */
function requireOutwards(source: ObjectValue): string {
  const name = String(own(source, 'name'));
  if (!isActive(source)) throw apiError('cascade.source.inactive', name, 'it is not active');
  return name;
}

/**
 * Publishes a message to the source. There is no result; a source with echo raises its own event (integrations.md 1.4).
 * @param using merged into the request; its keys win
 * @param noObject what is said of a value that is no Object: a statement and a request have errors of their own (language.md B2,
 *   resources-and-api.md 2.18)
 * @throws cascade.resource.not.found, cascade.source.direction, .inactive, .unavailable, errors of a mock
 */
export async function publishToSource(
  space: Namespace,
  id: string,
  value: Value,
  using: Value,
  actor: Actor,
  noObject: (value: Value) => CascadeError,
): Promise<void> {
  const source = sourceNamed(space, id);
  const name = requireOutwards(source);
  if (own(source, 'direction') === 'SOURCE') throw apiError('cascade.source.direction', name, 'nothing is sent to it');
  if (!isObject(value)) throw noObject(value);
  const written = withUsing(source, value, isObject(using) ? using : {});
  const request = mergedRequest(source, written);
  if (isMocked(source)) await mock(space, source, 'publish', 'pubDesc', request, actor);
  else {
    const protocol = protocolOf(String(own(source, 'type')));
    const check = (): void => protocol?.checkPublish?.(name, withoutNamedSecrets(own(source, 'config') as ObjectValue), request);
    const publisher = space.catalog.features.publishers.get(String(own(source, 'type')));
    if (publisher) {
      check();
      await publisher(space, name, request, actor);
    } else await through(space, name, check, (connection) => connection.publish?.(written, callerOf(space, actor)) ?? refusedPublish(name));
  }
  sourcesOf(space).counts.add(name, 'published', space.clock.now());
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
 * Queries the source.
 * @param room what the answer holds in memory: to be disposed of when its value has been handed on
 * @returns one row: the body of the response
 * @throws cascade.resource.not.found, cascade.source.direction, .inactive, .query.unsupported, .unavailable, errors of a mock
 */
export async function querySource(
  space: Namespace,
  id: string,
  request: ObjectValue,
  actor: Actor,
  room: AnswerRoom,
  caller: Caller = callerOf(space, actor),
): Promise<Value> {
  const source = sourceNamed(space, id);
  const name = requireOutwards(source);
  if (own(source, 'direction') === 'SINK') throw apiError('cascade.source.direction', name, 'it cannot be asked');
  if (isMocked(source)) return mock(space, source, 'query', 'queryDesc', mergedRequest(source, request), actor);
  const protocol = protocolOf(String(own(source, 'type')));
  if (protocol?.hasQuery !== true) throw apiError('cascade.source.query.unsupported', name, 'it has no queries');
  const config = own(source, 'config') as ObjectValue;
  const check = (): void => protocol.checkQuery?.(name, withoutNamedSecrets(config), mergedRequest(source, request));
  return through(space, name, check, (connection) => connection.query?.(request, caller, room) ?? refusedPublish(name));
}

/** What is sent, with what USING gives in its place: headers and query of a request key by key (integrations.md 2.2). */
function withUsing(source: ObjectValue, value: ObjectValue, using: ObjectValue): ObjectValue {
  const protocol = protocolOf(String(own(source, 'type')));
  if (protocol?.merged) return protocol.merged({}, [value, using]);
  const written: ObjectValue = {};
  for (const part of [value, using]) for (const key of Object.keys(part)) setOwn(written, key, getOwn(part, key));
  return written;
}

/** The request that mocks and echoes see: the definition has no secrets in it, which they must not see. */
const mergedRequest = (source: ObjectValue, request: ObjectValue): ObjectValue =>
  protocolOf(String(own(source, 'type')))?.merged?.(own(source, 'config') as ObjectValue, [request]) ?? request;

/** The config without the fields that name a secret: what they stand for is known to the connection alone. */
function withoutNamedSecrets(config: ObjectValue): ObjectValue {
  const known: ObjectValue = {};
  for (const key of Object.keys(config)) if (!isNamedSecret(getOwn(config, key))) setOwn(known, key, getOwn(config, key));
  return known;
}

const refusedPublish = (name: string): never => {
  throw apiError('cascade.source.query.unsupported', name, 'it does not offer that');
};

/**
 * Runs a request on the source's connection, once it is open. A failure counts as one of the source, an invalid request does not.
 * @param check checks the request, where it would have to wait: the connection does so, too
 */
async function through<T>(space: Namespace, name: string, check: () => void, ask: (connection: Connection) => Promise<T>): Promise<T> {
  let connection = sourcesOf(space).connected(name);
  if (!connection) check();
  try {
    connection ??= await sourcesOf(space).connectionOf(name);
    const answer = await ask(connection);
    sourcesOf(space).noteRequest(name, connection, null);
    return answer;
  } catch (error) {
    if (error instanceof Fenced) throw error; // it was not asked
    const isOfRequest = error instanceof CascadeError && error.status < 500;
    if (connection && error instanceof EgressError && error.failure === 'refused') {
      sourcesOf(space).noteRequest(name, connection, error);
      throw apiError('cascade.source.unavailable', name, error.message);
    }
    if (!isOfRequest) sourcesOf(space).counts.add(name, 'failed', space.clock.now());
    throw error;
  }
}

/** The result of the mock procedure; null without one. Its failure counts as one of the source. */
async function mock(...asked: Parameters<typeof mocked>): Promise<Value> {
  const [space, source] = asked;
  try {
    return await mocked(...asked);
  } catch (error) {
    sourcesOf(space).counts.add(String(own(source, 'name')), 'failed', space.clock.now());
    throw error;
  }
}

/** Runs the mock procedure as the creator of the source. */
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
  const procedure = space.catalog.definitions.find('procedures', String(named));
  if (!procedure) throw apiError('cascade.resource.not.found', `/procedures/${String(named)}`);
  const json = await runDirect(space.execution.runs, {
    executable: { resource: `/procedures/${procedure.name}`, name: procedure.name, service: null },
    body: { program: null, procedure: procedure.name },
    argsJson: '[]',
    namedJson: encodeInner({ [parameter]: request }),
    identity: calledAs(space, procedure.name, await creatorOf(space, source)),
    caller: actor,
    snapshot: 'outermost',
  });
  return decodeInner(json);
}
