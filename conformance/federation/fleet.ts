// Installations that ask each other: one that asks, and three nodes behind proxies that can fail, each a namespace with an admin of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, RestClient, type StartedService, startService } from '../client/index.ts';
import { FaultyProxy } from './proxy.ts';

const PASSWORD = 'correct horse battery';
const NODES = ['n1', 'n2', 'n3'] as const;
export type NodeName = (typeof NODES)[number];
const ZONES: Readonly<Record<NodeName, string>> = { n1: 'e', n2: 'e', n3: 'w' };

export interface FleetNode {
  readonly name: NodeName;
  /** Admin of its namespace, not through the proxy. */
  readonly client: RestClient;
  readonly proxy: FaultyProxy;
  readonly service: StartedService;
  readonly user: string;
}

export interface Fleet extends AsyncDisposable {
  readonly near: StartedService;
  readonly caller: RestClient;
  readonly nodes: Readonly<Record<NodeName, FleetNode>>;
  /** Registers a node as it is in the beginning, or with other fields. */
  register(name: NodeName, fields?: Readonly<Record<string, unknown>>): Promise<void>;
  /** From now on its nodes are asked by requests of their own (`http`), or each over one standing WebSocket (`ws`). */
  speak(scheme: 'http' | 'ws'): Promise<void>;
}

export interface FleetOptions {
  /** One installation with three namespaces, or three of them. */
  readonly far: 'one' | 'three';
  readonly expects?: 'any' | readonly RegExp[];
  /** Of the installation that asks. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Types `Bin(code, kg)` with the bins of the scenarios; n3 has none. */
const BINS: Readonly<Record<NodeName, readonly (readonly [string, number])[]>> = {
  n1: [
    ['a', 5],
    ['b', 9],
  ],
  n2: [['c', 7]],
  n3: [],
};

/** @param body the text of a program, or what becomes JSON; null: none @throws Error for a status from 300 on */
export async function must(client: RestClient, method: string, path: string, body: unknown): Promise<Json> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const options = body === null ? {} : { text, headers: { 'Content-Type': type } };
  const reply = await client.send(method, path, options);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.text === '' ? null : reply.json();
}

/** @throws Error after a minute */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await sleep(50))
    if (Date.now() > end) throw new Error('it has not come to pass within a minute');
}

async function loggedIn(url: string, user: string, password: string): Promise<RestClient> {
  const client = new RestClient(url, 32);
  await client.login(user, password);
  return client;
}

export async function openFleet({ far, expects = [], env = {} }: FleetOptions): Promise<Fleet> {
  const opened: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    const faults: unknown[] = [];
    for (const one of opened.splice(0).reverse())
      try {
        await one[Symbol.asyncDispose]();
      } catch (error) {
        faults.push(error);
      }
    if (faults.length > 0) throw faults[0];
  };
  const kept = <T extends AsyncDisposable>(one: T): T => {
    opened.push(one);
    return one;
  };
  const client = async (service: StartedService, user: string, password: string): Promise<RestClient> => {
    const one = await loggedIn(service.url, user, password);
    opened.push({ [Symbol.asyncDispose]: async () => one.close() });
    return one;
  };
  try {
    const args = ['--lanes', '1'];
    const starting = [
      startService({ args: [...args, '--outbound-addresses', '127.0.0.0/8'], expects, env }),
      ...Array.from({ length: far === 'one' ? 1 : NODES.length }, () => startService({ args, expects })),
    ];
    const started = await Promise.allSettled(starting);
    for (const one of started) if (one.status === 'fulfilled') opened.push(one.value);
    const services = started.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
    const near = services[0]!;
    const caller = await client(near, near.user, near.password);
    const nodes = {} as Record<NodeName, FleetNode>;
    for (const [at, name] of NODES.entries()) {
      const service = services[far === 'one' ? 1 : 1 + at]!;
      let user = service.user;
      let admin = await client(service, user, service.password);
      if (far === 'one') {
        user = `${name}-boss`;
        await must(admin, 'POST', '/namespaces', { namespace: name, organization: { name }, username: user, password: PASSWORD });
        admin = await client(service, user, PASSWORD);
      }
      const proxy = kept(await FaultyProxy.open(Number(new URL(service.url).port)));
      nodes[name] = { name, client: admin, proxy, service, user };
      await must(admin, 'POST', '/types', { name: 'Bin', properties: { code: { type: 'String' }, kg: { type: 'Integer' } } });
      for (const [code, kg] of BINS[name]) await must(admin, 'POST', '/custom/Bin', { code, kg });
    }
    let scheme = 'http';
    const fleet: Fleet = {
      near,
      caller,
      nodes,
      async register(name, fields = {}) {
        const { proxy, user, service } = nodes[name];
        const password = far === 'one' ? PASSWORD : service.password;
        const uri = `${scheme}://127.0.0.1:${proxy.port}`;
        const properties = { zone: ZONES[name] };
        await must(caller, 'POST', '/nodes', { name, uri, username: user, password, deliveryMode: 'bestEffort', properties, ...fields });
      },
      async speak(next) {
        scheme = next;
        for (const name of NODES) await fleet.register(name);
      },
      [Symbol.asyncDispose]: close,
    };
    await fleet.speak('http');
    return fleet;
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
