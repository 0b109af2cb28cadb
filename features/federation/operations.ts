// Carries out PROCESSED BY for programs (stdlib/isolate/protocol.ts, NodeAsked): chooses the nodes, starts the statement on them, and
// records each page of results with the run, so that a replay asks no node for a page that it has delivered.
import { createHash, randomUUID } from 'node:crypto';
import { Long, ObjectId } from 'mongodb';
import { getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { type CascadeError, apiError, isApiError } from '../../model/errors/index.ts';
import type { ProgramOperation, Namespace } from '../../resources/catalog/index.ts';
import { invocationOf } from '../../runtime/runs/index.ts';
import { nodesThat, shownNode } from '../nodes/index.ts';
import { HttpFailure } from '../sources/index.ts';
import { failureOf } from './failures.ts';
import { FEDERATION } from './federation.ts';
import { hopOf } from './hops.ts';
import { onSelf } from './self.ts';
import { isReliable } from './outbox.ts';
import { type Asked, carriedOut, isWrite, type Send, writeOf } from './requests.ts';
import { type Left, NodeStatement, type Page, pageJson } from './statement.ts';

const WITHIN_MS = 60_000;

/** @throws cascade.federation.nodes, .within, .value; errors of an invalid condition */
export const openStatement: ProgramOperation = async (space, payload, actor) => {
  const within = withinOf(payload);
  const names = nodesThat(space, getOwn(payload, 'where'), actor);
  checkCount(names.length, getOwn(payload, 'cardinality'));
  const key = actor.childRunIds?.next() ?? randomUUID();
  const left = names.map((name) => ({ name, pages: 0 }));
  requireTransferable(space, payload, names);
  if (left.length > 0) space.states.get(FEDERATION).keep(key, () => begun(space, payload, left, { key, within }, actor));
  return taken(space, payload, { key, until: actor.clock.now() + within, within }, actor);
};

export const nextOfStatement: ProgramOperation = async (space, payload, actor) => {
  const cursor = getOwn(payload, 'cursor') as ObjectValue;
  const [key, until, within] = [String(getOwn(cursor, 'key')), Number(getOwn(cursor, 'until')), Number(getOwn(cursor, 'within'))];
  const federation = space.states.get(FEDERATION);
  if (!federation.statement(key)) {
    // Another process started the statement, or this one before a restart: the remaining pages are requested from the remaining nodes.
    const left = getOwn(cursor, 'left') as unknown as Left[];
    federation.keep(key, () => begun(space, payload, left, { key, within: Math.max(1, until - actor.clock.now()) }, actor));
  }
  return taken(space, payload, { key, until, within }, actor);
};

export const closeStatement: ProgramOperation = async (space, payload) => {
  space.states.get(FEDERATION).drop(String(getOwn(getOwn(payload, 'cursor') as ObjectValue, 'key')));
  return { ok: 'null' };
};

interface Place {
  readonly key: string;
  readonly until: number;
  readonly within: number;
}

/** Takes the next page and records it. */
async function taken(space: Namespace, payload: ObjectValue, { key, until, within }: Place, actor: Actor): Promise<{ ok: string }> {
  const federation = space.states.get(FEDERATION);
  const statement = federation.statement(key);
  using page = statement ? await nextOf(statement, () => federation.drop(key)) : null;
  const { items, left } = page ?? { items: [], left: [] };
  if (left.length === 0) federation.drop(key);
  const nodes = Object.fromEntries(items.map(([name]) => [name, shownNode(space, name)] as const));
  const cursor: Value = left.length === 0 ? null : { key, until, within, left: left as unknown as Value };
  if (getOwn(payload, 'handled') !== true)
    await warn(
      space,
      items.filter(([, kind]) => kind === 'error'),
      actor,
    );
  const ok = await pageJson(space.name, nodes, items, cursor);
  await actor.commit({ writes: [], events: [] }, { ok });
  return { ok };
}

/** @param drop of a statement that fails as a whole; what carries the run out asks for it again, if it does */
async function nextOf(statement: NodeStatement, drop: () => void): Promise<Page> {
  try {
    return await statement.next();
  } catch (error) {
    drop();
    throw error;
  }
}

function begun(
  space: Namespace,
  payload: ObjectValue,
  left: readonly Left[],
  { key, within }: { key: string; within: number },
  actor: Actor,
): NodeStatement {
  const federation = space.states.get(FEDERATION);
  const hop = left.some(({ name }) => name !== 'self') ? hopOf(actor) : 0; // here it goes no further
  const deadline = performance.now() + within;
  const late = async (name: string): Promise<CascadeError> => {
    const isReliableWrite = isWrite(String(getOwn(payload, 'kind'))) && isReliable(space.catalog.definitions.get('nodes', name));
    if (!isReliableWrite) return apiError('io.service.federation.request.timeout', name, within);
    try {
      await federation.outbox.isStored(requestIdOf(space, key, name));
    } catch (error) {
      return failureOf(name, error);
    }
    return apiError('cascade.federation.delivery.pending', name, `no answer within ${within} ms`);
  };
  return new NodeStatement(left, {
    run: actor.state?.run ?? '',
    withinMs: within,
    first: getOwn(payload, 'kind') === 'select' ? undefined : 'self',
    room: () => federation.outlet.answerRoom(),
    begin: ({ name, pages }, signal, room) => {
      const asked = askedOf(payload, requestIdOf(space, key, name));
      if (name === 'self') return onSelf(space, asked, actor, pages);
      const isStored = isWrite(asked.kind) && isReliable(space.catalog.definitions.get('nodes', name));
      const send: Send = isStored
        ? (request) => federation.outbox.deliver(name, request, actor.identity.username, hop, signal)
        : async (request) => {
            room().clear(); // what an earlier answer of this page had
            return federation.clientOf(name).ask(request, { hop, signal, deadline, room: room() });
          };
      return carriedOut(space, asked, send, pages);
    },
    failure: (name, error) => {
      // Not the node has failed here, but the store, or the run has met another's change: the run is carried out again.
      if (name === 'self' && !isApiError(error)) throw error;
      return error instanceof HttpFailure && error.kind === 'timeout' ? late(name) : failureOf(name, error);
    },
    late,
  });
}

const askedOf = (payload: ObjectValue, requestId: string): Asked => ({
  kind: String(getOwn(payload, 'kind')),
  statement: getOwn(payload, 'statement') as ObjectValue,
  gathers: getOwn(payload, 'gathers') === true,
  streams: getOwn(payload, 'streams') === true,
  requestId,
});

/** The request id, a UUID of version 4, follows from run and statement, so that a replay sends the same one. */
function requestIdOf(space: Namespace, key: string, node: string): string {
  const hex = createHash('sha256')
    .update([space.installation.about.nodeUuid ?? '', space.name, key, node].join('\n'))
    .digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Checks that the values of a statement can be sent, before anything is. @throws cascade.federation.value */
function requireTransferable(space: Namespace, payload: ObjectValue, names: readonly string[]): void {
  const asked = askedOf(payload, '');
  if (names.some((name) => name !== 'self') && isWrite(asked.kind)) writeOf(space, asked);
}

/** @throws cascade.federation.within */
function withinOf(payload: ObjectValue): number {
  if (getOwn(payload, 'limited') !== true) return WITHIN_MS;
  const within = getOwn(payload, 'within');
  if (!isInteger(within) || within <= 0) throw apiError('cascade.federation.within', 'WITHIN is no Integer of milliseconds above 0');
  return Math.min(Number(within), 2 ** 31 - 1);
}

/** @throws cascade.federation.nodes */
function checkCount(found: number, cardinality: Value): void {
  if (cardinality === 'one' && found > 1) throw apiError('cascade.federation.nodes', found, 'at most 1');
  if (cardinality === 'exactlyOne' && found !== 1) throw apiError('cascade.federation.nodes', found, '1');
  if (cardinality === 'atLeastOne' && found < 1) throw apiError('cascade.federation.nodes', found, 'at least 1');
}

/** Logs errors that no handler receives as messages of the run (11.6). */
async function warn(space: Namespace, errors: readonly (readonly [string, string, Value?])[], actor: Actor): Promise<void> {
  if (errors.length === 0) return;
  const logs = errors.map(([name, , error], index) => ({
    _id: new ObjectId(),
    invocationId: invocationOf(actor.state?.run ?? ''),
    level: 'WARN',
    message: `node ${name}: ${isObject(error ?? null) ? `${String(getOwn(error as ObjectValue, 'code'))}: ${String(getOwn(error as ObjectValue, 'message'))}` : ''}`,
    sequenceId: Long.fromNumber(1_000_000 + index),
    timestamp: new Date(actor.clock.now()),
    resource: { resource: 'nodes', resourceId: name },
    username: actor.identity.username,
    ars_version: Long.fromNumber(1),
  }));
  await space.transactions.submit({ writes: [], events: [], logs }, false);
}
