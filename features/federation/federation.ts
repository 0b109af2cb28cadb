// The state of federation in a namespace of this process: a client per node, and the statements in progress.
import type { ConnectionOptions } from 'node:tls';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { type Outlet, tlsOptions } from '../../platform/egress/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { nodeCredentials, type NodeCredentials, nodeOptions } from '../nodes/index.ts';
import { openHttpClient } from '../sources/index.ts';
import type { NodeClient } from './node-client.ts';
import { Outbox } from './outbox.ts';
import { RestNodeClient } from './rest-client.ts';
import { SocketNodeClient } from './socket-client.ts';
import type { NodeStatement } from './statement.ts';

export const FEDERATION = new StateKey<Federation>('federation');

/**
 * Statements in progress. Beyond the bound the oldest are dropped that no program waits for: one that reads on asks its nodes again. Those
 * that are waited for are as many as there are runs.
 */
const MOST_STATEMENTS = 10_000;
const SWEEP_EVERY_MS = 5_000;

interface Kept {
  /** The node's definition when the client was created. */
  readonly node: ObjectValue;
  readonly client: NodeClient;
}

export class Federation {
  readonly outlet: Outlet;
  readonly outbox: Outbox;
  readonly #space: () => Namespace;
  readonly #made: (name: string, node: ObjectValue) => NodeClient;
  readonly #clients = new Map<string, Kept>();
  readonly #statements = new Map<string, NodeStatement>();
  #sweeping: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** @param made creates the client of a node; absent: one for the protocol of the node's address */
  constructor(space: () => Namespace, outlet: Outlet, made?: (name: string, node: ObjectValue) => NodeClient) {
    this.#space = space;
    this.outlet = outlet;
    this.#made = made ?? ((name, node) => this.#clientFor(name, node));
    this.outbox = new Outbox(space, (node, request, carriage) => this.clientOf(node).ask(request, carriage));
  }

  /**
   * The client of a node; a changed node gets a new client, which logs in again.
   * @throws cascade.federation.unreachable when the node was deleted
   */
  clientOf(name: string): NodeClient {
    const space = this.#space();
    const node = space.catalog.definitions.get('nodes', name);
    const kept = this.#clients.get(name);
    if (kept && kept.node === node) return kept.client;
    kept?.client.retire();
    this.#clients.delete(name);
    if (!node) throw apiError('cascade.federation.unreachable', name, 'the node is not registered any more');
    const client = this.#made(name, node);
    this.#clients.set(name, { node, client });
    return client;
  }

  #clientFor(name: string, node: ObjectValue): NodeClient {
    const { outlet } = this;
    const tls = async (): Promise<ConnectionOptions> => {
      try {
        return await tlsOptions(await nodeOptions(this.#space(), name, node));
      } catch {
        throw apiError('cascade.federation.unreachable', name, 'the certificates or keys of its clientOptions cannot be read');
      }
    };
    const credentials = (): Promise<NodeCredentials | null> => nodeCredentials(this.#space(), name, node);
    const uri = new URL(String(getOwn(node, 'uri')));
    if (/^wss?:$/.test(uri.protocol)) return new SocketNodeClient(name, { uri, outlet, tls, credentials });
    const open = async () => openHttpClient({ outlet, tls: await tls() });
    return new RestNodeClient(name, uri.href, { open, answerRoom: () => outlet.answerRoom() }, credentials);
  }

  open(): void {
    this.outbox.open();
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
  }

  /** Closes connections to nodes that were deleted, or changed and not used since. */
  #sweep(): void {
    for (const [name, { node, client }] of this.#clients)
      if (this.#space().catalog.definitions.get('nodes', name) !== node) {
        client.retire();
        this.#clients.delete(name);
      }
  }

  /** The reachability of a node, by its last request. */
  conditionOf(name: string): { state: 'unknown' | 'reachable' | 'unreachable'; latencyMs: number | null } {
    const client = this.#clients.get(name)?.client;
    return { state: client?.state ?? 'unknown', latencyMs: client?.latencyMs ?? null };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The number of statements whose results a program may still read. */
  get underWay(): number {
    return this.#statements.size;
  }

  statement(key: string): NodeStatement | undefined {
    return this.#statements.get(key);
  }

  /**
   * Begins a statement.
   * @throws Fenced it is for the next owner of the namespace: nobody would close what it opens here; errors of `begin`
   */
  keep(key: string, begin: () => NodeStatement): void {
    if (this.#isClosed) throw new Fenced('the namespace is being closed: the next owner of the run asks its nodes');
    if (this.#statements.size >= MOST_STATEMENTS) this.#dropOldest();
    this.#statements.set(key, begin());
  }

  #dropOldest(): void {
    for (const [key, statement] of this.#statements) if (!statement.isAwaited) return this.drop(key);
  }

  /** Drops a statement: its pages are discarded and its requests cancelled. */
  drop(key: string): void {
    this.#statements.get(key)?.abort();
    this.#statements.delete(key);
  }

  /** Drops the statements of a run that has ended or restarts. */
  release(run: string): void {
    for (const [key, statement] of this.#statements) if (statement.run === run) this.drop(key);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const key of [...this.#statements.keys()]) this.drop(key);
    if (this.#sweeping) clearInterval(this.#sweeping);
    await this.outbox.close();
    await Promise.all([...this.#clients.values()].map(({ client }) => client.close()));
    this.#clients.clear();
  }
}
