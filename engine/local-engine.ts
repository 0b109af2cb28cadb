// The operations of the engine in a namespace that this process owns, for clients of this process and for other processes.

import type { Logger } from 'pino';
import { auditSecurity } from '../features/audits/index.ts';
import { deliveriesOf } from '../features/delivery/index.ts';
import { accept } from '../features/sources/index.ts';
import { unsubscribe } from '../features/subscriptions/index.ts';
import type { SecurityLog } from '../identity/index.ts';
import { CascadeErrors, apiError, isApiError } from '../model/errors/index.ts';
import { toJson } from '../model/values/index.ts';
import type { Clock } from '../platform/clock/index.ts';
import { isRetryable } from '../platform/mongo/index.ts';
import type { ApiReply, ApiRequest, Identity, Operation } from '../resources/api.ts';
import { tooFull } from '../resources/instances/index.ts';
import type { Quotas } from '../resources/quotas/index.ts';
import { carryOutIdempotently } from '../resources/requests/index.ts';
import type { FairScheduler } from '../runtime/admission/index.ts';
import type { Actor } from '../runtime/context/index.ts';
import { parseEventPath } from '../runtime/events/index.ts';
import { Fenced, QueueFull } from '../runtime/transactions/index.ts';
import type { Namespace } from '../resources/catalog/index.ts';
import { describe } from './describe.ts';
import type { LocalEngine } from './forwarding/index.ts';

export interface LocalEngineOptions {
  readonly clock: Clock;
  readonly scheduler: FairScheduler;
  readonly quotas: Quotas;
  readonly security: SecurityLog;
  /** Whether no other process can have declared this one dead. */
  readonly isSure: () => boolean;
  readonly drop: (namespace: string) => Promise<void>;
  readonly close: (namespace: string) => Promise<void>;
  readonly log: Logger;
}

export function openLocalEngine({ clock, scheduler, quotas, security, isSure, drop, close, log }: LocalEngineOptions): LocalEngine {
  /** Results of a moment in which another process may have owned the namespace are not given as certain. */
  const requireSure = (): void => {
    if (!isSure()) throw new Fenced('another process may do the work of this one');
  };
  return {
    async execute({ space }, request) {
      const cameMs = performance.now();
      const { namespace } = request.identity;
      const entered = scheduler.enter(namespace);
      const place = entered instanceof Promise ? await entered : entered;
      try {
        if (isUnwanted(request)) throw apiError('cascade.server.unavailable');
        requireSure();
        const limited = quotas.of(namespace);
        const usage = limited instanceof Promise ? await limited : limited;
        usage?.takeRequest();
        if (request.op === 'execute') usage?.takeExecution();
        const reply = await carryOutIdempotently(space, request, actorOf(space, request, clock, cameMs));
        requireSure();
        return reply;
      } catch (error) {
        const answered = asClientError(error);
        noteRefusal(security, answered, request.identity, request);
        throw answered;
      } finally {
        scheduler.leave(namespace, place);
      }
    },
    async accept({ space }, arrival): Promise<ApiReply> {
      const entered = scheduler.enter(space.name);
      const place = entered instanceof Promise ? await entered : entered;
      try {
        requireSure();
        const { status, body } = await accept(space, arrival);
        requireSure();
        return { status, body: toJson(body) };
      } catch (error) {
        if (isRetryable(error) || error instanceof Fenced) throw apiError('cascade.server.unavailable');
        throw error;
      } finally {
        scheduler.leave(space.name, place);
      }
    },
    describe: ({ space }, caller) => describe(space, caller),
    async acknowledge({ space }, identity, { subscriptionName, partitionId, sequenceId }) {
      if ((await deliveriesOf(space).acknowledge(identity, subscriptionName, partitionId, sequenceId)) === null)
        log.info({ subscriptionName, partitionId, sequenceId }, 'an acknowledgement named no open delivery');
    },
    unsubscribe: async ({ space }, identity, path, name) => unsubscribe(space, identity, path, name),
    audit: ({ space }, event) => auditSecurity(space, event, clock),
    forgetUser: ({ space }, username, by) => space.catalog.features.forgetUser(space, username, by),
    drop,
    closeSoon({ space: { name } }) {
      close(name).catch((err: unknown) => log.error({ err, namespace: name }, 'a namespace could not be closed'));
    },
  };
}

const actorOf = (space: Namespace, request: ApiRequest, clock: Clock, cameMs: number): Actor => ({
  identity: request.identity,
  clock,
  chain: request.federation ? { root: null, depth: 0, hop: request.federation.hop } : { root: null, depth: 0 },
  since: { fromMs: cameMs, rule: null },
  commit: (unit) => {
    const full = space.transactions.refusal(unit);
    return full ? Promise.reject(tooFull(full)) : space.transactions.submit(unit);
  },
  enqueue: (unit, stored, failed) => {
    space.transactions.enqueue(unit, false, stored, (error) => failed(error instanceof QueueFull ? tooFull(error) : error));
  },
  readSet: null,
  childRunIds: null,
  depth: 0,
  ...(request.signal && { signal: request.signal }),
  ...(request.isGone && READS.includes(request.op) && { isGone: request.isGone }),
});

const READS: readonly string[] = ['select', 'selectOne', 'aggregate'] satisfies Operation[];

/** Whether a request that waited for its turn is a read for a client that has gone meanwhile. A change is carried out all the same. */
const isUnwanted = ({ op, isGone }: ApiRequest): boolean => isGone?.() === true && READS.includes(op);

/** Converts an error to the one that clients get. */
export function asClientError(error: unknown): unknown {
  if (error instanceof QueueFull) return tooFull(error);
  if (isRetryable(error) || error instanceof Fenced) return apiError('cascade.server.unavailable');
  return error;
}

export function noteRefusal(
  security: SecurityLog,
  error: unknown,
  { username, namespace }: Identity,
  { op, resourceName, address = null }: { op: string; resourceName: string; address?: string | null },
): void {
  if (!isApiError(error)) return;
  const { code, params } = error instanceof CascadeErrors ? error.errors[0]! : error;
  if (code === 'cascade.quota.exceeded') return security.exceeded(username, namespace, [String(params[0]), String(params[1])]);
  if (error.status !== 403) return;
  security.refused({ username, namespace, address, operation: op, resource: resourceName, code });
}

/** The resource that an audit of a refused subscription names: a type's own name, else that of its resource (13). */
export function listenedTo(path: string): string {
  try {
    const { resource, name } = parseEventPath(path);
    if (resource === 'types') return name;
    return resource === 'inbox' ? 'ArsPushTarget' : resource;
  } catch {
    return path; // is refused for that
  }
}
