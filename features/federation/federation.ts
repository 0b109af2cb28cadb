// What a namespace keeps for federation, in this process: a client a node, and the statements that are under way.
import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { fault } from '../../model/errors/faults.ts';
import type { Outlet } from '../../platform/egress/index.ts';
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { nodeCredentials } from '../nodes/index.ts';
import { HttpClient } from '../sources/http/index.ts';
import { tlsOptions } from '../sources/protocols/tls.ts';
import { NodeClient } from './client.ts';
import { Outbox } from './outbox.ts';
import type { NodeStatement } from './statement.ts';

export const FEDERATION = new StateKey<Federation>('federation');

/** Statements under way; nobody asks any more for those that are put away first. */
const MOST_STATEMENTS = 10_000;

interface Kept {
  /** The node as it was when the client was made. */
  readonly node: ObjectValue;
  readonly client: NodeClient;
}

export class Federation {
  readonly outlet: Outlet;
  readonly outbox: Outbox;
  readonly #space: () => Namespace;
  readonly #clients = new Map<string, Kept>();
  readonly #statements = new Map<string, NodeStatement>();

  constructor(space: () => Namespace, outlet: Outlet) {
    this.#space = space;
    this.outlet = outlet;
    this.outbox = new Outbox(space, (node, request, carriage) => this.clientOf(node).ask(request, carriage));
  }

  /** The client of a node as it is now: a changed node logs in anew. @throws cascade.federation.unreachable when it is gone */
  clientOf(name: string): NodeClient {
    const space = this.#space();
    const node = space.definitions.get('nodes', name);
    const kept = this.#clients.get(name);
    if (kept && kept.node === node) return kept.client;
    if (kept) void kept.client.close();
    this.#clients.delete(name);
    if (!node) throw fault('cascade.federation.unreachable', name, 'the node is not registered any more');
    const options = getOwn(node, 'clientOptions');
    const http = new HttpClient({ outlet: this.outlet, tls: isObject(options) ? tlsOptions(options) : {} });
    const authorization = async (): Promise<string | null> => (await nodeCredentials(space, name, node))?.authorization ?? null;
    const client = new NodeClient(name, String(getOwn(node, 'uri')), http, authorization);
    this.#clients.set(name, { node, client });
    return client;
  }

  /** What the last request to a node has told. */
  conditionOf(name: string): { state: 'unknown' | 'reachable' | 'unreachable'; latencyMs: number | null } {
    const client = this.#clients.get(name)?.client;
    return { state: client?.state ?? 'unknown', latencyMs: client?.latencyMs ?? null };
  }

  statement(key: string): NodeStatement | undefined {
    return this.#statements.get(key);
  }

  keep(key: string, statement: NodeStatement): void {
    if (this.#statements.size >= MOST_STATEMENTS) this.drop(this.#statements.keys().next().value ?? '');
    this.#statements.set(key, statement);
  }

  /** What has not been asked for is dropped, requests under way are given up. */
  drop(key: string): void {
    this.#statements.get(key)?.abort();
    this.#statements.delete(key);
  }

  /** A run has ended, or begins again: nobody takes what its statements give. */
  release(run: string): void {
    for (const [key, statement] of this.#statements) if (statement.run === run) this.drop(key);
  }

  async close(): Promise<void> {
    for (const key of [...this.#statements.keys()]) this.drop(key);
    await this.outbox.close();
    await Promise.all([...this.#clients.values()].map(({ client }) => client.close()));
    this.#clients.clear();
  }
}
