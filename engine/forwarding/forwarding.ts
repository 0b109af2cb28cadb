// Carries out operations in a namespace, here or at the process that owns it: requests, requests to sources, descriptions,
// acknowledgements, audits. The receiving side of each call is in `handlers`. Subscriptions are in subscriptions.ts.

import type { ApiDescription, ApiReply, ApiRequest, Identity, SourceArrival } from '../../resources/api.ts';
import type { SecurityEvent } from '../../identity/index.ts';
import type { Answer, ByteStream, Calls, Handler, Message } from '../../runtime/cluster/index.ts';
import { decodeInner, encodeInner } from '../../stdlib/values/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import { AbortableRequests } from './abortable.ts';
import { openRange, replyAnswer, replyOf, requestMessage, requestOf } from './codec.ts';
import type { Routes } from './routes.ts';

/** The name of a security event in a message between processes, which may be of two versions. */
const AUDITED = 'heard';

export interface Acknowledgement {
  readonly subscriptionName: string;
  readonly partitionId: number;
  readonly sequenceId: number;
}

/** The operations of the engine in a namespace that this process owns. */
export interface LocalEngine {
  execute(space: OpenNamespace, request: ApiRequest): Promise<ApiReply>;
  accept(space: OpenNamespace, arrival: SourceArrival): Promise<ApiReply>;
  describe(space: OpenNamespace, caller: Identity): Promise<ApiDescription>;
  acknowledge(space: OpenNamespace, identity: Identity, acknowledgement: Acknowledgement): Promise<void>;
  unsubscribe(space: OpenNamespace, identity: Identity, path: string, name: string): Promise<void>;
  audit(space: OpenNamespace, event: SecurityEvent): Promise<void>;
  forgetUser(space: OpenNamespace, username: string, by: Identity): Promise<void>;
  /** Closes it once its requests in flight have ended; later requests wait until it is opened again. */
  closeSoon(space: OpenNamespace): void;
  /** Closes it and removes its data. */
  drop(namespace: string): Promise<void>;
}

/** Operations that change nothing, and so may be sent again to the next owner. */
const READS: ReadonlySet<string> = new Set(['select', 'selectOne', 'aggregate', 'schema', 'status', 'channels', 'getAuthorizedUsers']);

const isRead = ({ op, transfer, parameters }: ApiRequest): boolean =>
  READS.has(op) && transfer?.kind !== 'upload' && !('upsert' in parameters);

export class Forwarding {
  readonly #local: LocalEngine;
  readonly #routes: Routes;
  /** The calls to other processes, once there is a bus. */
  readonly #calls: () => Calls;
  readonly #abortable = new AbortableRequests();

  constructor(local: LocalEngine, routes: Routes, calls: () => Calls) {
    this.#local = local;
    this.#routes = routes;
    this.#calls = calls;
  }

  execute(request: ApiRequest): Promise<ApiReply> {
    return this.#routes.at(
      request.identity.namespace,
      (space) => this.#local.execute(space, request),
      async (owner) => {
        const calls = this.#calls();
        const { head, body, end } = await requestMessage(calls, owner, request);
        const forgotten = this.#abortable.announce(calls, owner, head, request.signal);
        try {
          return replyOf(calls, owner, await calls.call(owner, 'execute', head, body));
        } finally {
          end();
          forgotten();
        }
      },
      isRead(request),
    );
  }

  accept(namespace: string, arrival: SourceArrival): Promise<ApiReply> {
    return this.#routes.at(
      namespace,
      (space) => this.#local.accept(space, arrival),
      async (owner) => {
        const calls = this.#calls();
        const { body, ...head } = arrival;
        const lent = calls.lend(owner, bodyStream(body));
        try {
          return replyOf(calls, owner, await calls.call(owner, 'accept', { namespace, arrival: head, body: lent }));
        } finally {
          calls.unlend(owner, lent);
        }
      },
      false,
    );
  }

  describe(identity: Identity): Promise<ApiDescription> {
    return this.#routes.at(
      identity.namespace,
      (space) => this.#local.describe(space, identity),
      async (owner) => {
        const { body } = await this.#calls().call(owner, 'describe', { identity });
        return descriptionOf(body.toString());
      },
      true,
    );
  }

  acknowledge(identity: Identity, acknowledgement: Acknowledgement): Promise<void> {
    return this.#routes.at(
      identity.namespace,
      (space) => this.#local.acknowledge(space, identity, acknowledgement),
      async (owner) => void (await this.#calls().call(owner, 'acknowledge', { identity, acknowledgement })),
      true,
    );
  }

  unsubscribe(identity: Identity, path: string, name: string): Promise<void> {
    return this.#routes.at(
      identity.namespace,
      (space) => this.#local.unsubscribe(space, identity, path, name),
      async (owner) => void (await this.#calls().call(owner, 'unsubscribe', { identity, path, name })),
      false,
    );
  }

  audit(namespace: string, event: SecurityEvent): Promise<void> {
    return this.#routes.at(
      namespace,
      (space) => this.#local.audit(space, event),
      async (owner) => void (await this.#calls().call(owner, 'audit', { namespace, [AUDITED]: event })),
      false,
    );
  }

  forgetUser(namespace: string, username: string, by: Identity): Promise<void> {
    return this.#routes.at(
      namespace,
      (space) => this.#local.forgetUser(space, username, by),
      async (owner) => void (await this.#calls().call(owner, 'forgetUser', { namespace, username, identity: by })),
      true,
    );
  }

  /** Lets the owner of a namespace close it and open it anew. */
  async reopen(namespace: string): Promise<void> {
    await this.#routes.at(
      namespace,
      async (space) => this.#local.closeSoon(space),
      async (owner) => void (await this.#calls().call(owner, 'reopen', { namespace })),
      true,
    );
    // The next request waits until it is open again.
    await this.#routes.at(
      namespace,
      async () => undefined,
      async (owner) => void (await this.#calls().call(owner, 'opened', { namespace })),
      true,
    );
  }

  /** @param owner the owner of the namespace that is being deleted */
  async dropAt(owner: number, namespace: string): Promise<void> {
    await this.#calls().call(owner, 'drop', { namespace });
  }

  /** A process is gone: requests of its clients that end with these do so. */
  dropped(epoch: number): void {
    this.#abortable.dropped(epoch);
  }

  /** @param enter runs work in a namespace of this process @throws OwnedElsewhere */
  handlers(enter: <T>(namespace: string, work: (space: OpenNamespace) => Promise<T>) => Promise<T>): Record<string, Handler> {
    const local = this.#local;
    const named = ({ head }: Message): string => String(head['namespace']);
    const identityIn = ({ head }: Message): Identity => head['identity'] as Identity;
    return {
      execute: async (from, message) => {
        const calls = this.#calls();
        const { namespace } = (message.head['request'] as ApiRequest).identity;
        const { signal, end } = this.#abortable.begin(from, message.head);
        try {
          return await enter(namespace, async (space) => {
            const request = await requestOf(calls, from, message);
            if (signal) request.signal = signal;
            return replyAnswer(calls, from, await local.execute(space, request));
          });
        } finally {
          end();
        }
      },
      abort: (from, { head }) => {
        this.#abortable.abort(from, Number(head['id']));
        return DONE;
      },
      open: (from, message) => openRange(this.#calls(), from, message),
      accept: (from, message) =>
        enter(named(message), async (space) => {
          const calls = this.#calls();
          const stream = calls.remote(from, Number(message.head['body']));
          const arrival = { ...(message.head['arrival'] as Omit<SourceArrival, 'body'>), body: () => wholeOf(stream) };
          try {
            return replyAnswer(calls, from, await local.accept(space, arrival));
          } finally {
            await stream.close();
          }
        }),
      describe: (_from, message) =>
        enter(identityIn(message).namespace, async (space): Promise<Answer> => {
          const description = await local.describe(space, identityIn(message));
          return { head: {}, body: Buffer.from(descriptionText(description)) };
        }),
      acknowledge: (_from, message) =>
        enter(identityIn(message).namespace, async (space) => {
          await local.acknowledge(space, identityIn(message), message.head['acknowledgement'] as Acknowledgement);
          return DONE;
        }),
      unsubscribe: (_from, message) =>
        enter(identityIn(message).namespace, async (space) => {
          await local.unsubscribe(space, identityIn(message), String(message.head['path']), String(message.head['name']));
          return DONE;
        }),
      audit: (_from, message) =>
        enter(named(message), async (space) => {
          await local.audit(space, message.head[AUDITED] as SecurityEvent);
          return DONE;
        }),
      forgetUser: (_from, message) =>
        enter(named(message), async (space) => {
          await local.forgetUser(space, String(message.head['username']), identityIn(message));
          return DONE;
        }),
      reopen: (_from, message) =>
        enter(named(message), async (space) => {
          local.closeSoon(space);
          return DONE;
        }),
      opened: (_from, message) => enter(named(message), async () => DONE),
      drop: async (_from, message) => {
        await local.drop(named(message));
        return DONE;
      },
    };
  }
}

const DONE: Answer = { head: {} };

function bodyStream(body: SourceArrival['body']): ByteStream {
  let isTaken = false;
  return {
    async next() {
      if (isTaken) return null;
      isTaken = true;
      const bytes = await body();
      return bytes.length > 0 ? bytes : null;
    },
    close: () => Promise.resolve(),
  };
}

async function wholeOf(stream: ByteStream): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let piece; (piece = await stream.next()); ) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The text of a description: schemas are values of the language; sets become arrays. */
function descriptionText({ namespace, resources, procedures }: ApiDescription): string {
  const plain = {
    namespace,
    resources: resources.map((one) => ({ ...one, operations: [...one.operations], commands: [...one.commands] })),
    procedures: procedures.map((one) => ({ ...one, parameters: [...one.parameters] })),
  };
  return encodeInner(plain);
}

function descriptionOf(text: string): ApiDescription {
  const plain = decodeInner(text) as unknown as ApiDescription & { resources: { operations: string[] }[] };
  return { ...plain, resources: plain.resources.map((one) => ({ ...one, operations: new Set(one.operations) })) };
}
