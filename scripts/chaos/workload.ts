// The clients: each goes on with small tasks until it is told to stop, and writes down what it was promised. A request whose answer did
// not come may have been carried out or not; where a key tells, it is repeated until it is known.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, parseJson, type Reply, type RestClient } from '../../conformance/client/index.ts';
import { Outages } from './outages.ts';
import { BULK_ROWS, LANES, LARGE_ROWS, RULES, TALLY, TOPICS, TYPES } from './definitions.ts';

export const CLIENTS = 6;
const PAUSE_MS = 25;
const LONGEST_PLAN_MS = 3_000;
const REPEAT_MS = 100;

/** 'promised': the service has answered that it is accepted; 'perhaps': the answer did not come. */
export type Promised = 'promised' | 'perhaps';

/** What the clients know. */
export interface Ledger {
  /** Orders that are stored, in the order in which each client has stored them. */
  readonly orders: { readonly key: string; readonly lane: string; readonly client: number }[];
  /** Messages by topic and key. Each key is sent once. */
  readonly messages: Map<string, Map<string, Promised>>;
  /** Keys whose end came before their beginning. */
  readonly inverse: Set<string>;
  /** Answers that are neither success nor a precise "not now". */
  readonly unclear: string[];
  /** How often a client was told "not now" in so many words. */
  readonly refusals: Map<string, number>;
  readonly outages: Outages;
}

export const newLedger = (): Ledger => ({
  orders: [],
  messages: new Map(),
  inverse: new Set(),
  unclear: [],
  refusals: new Map(),
  outages: new Outages(),
});

export async function install(client: RestClient): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const reply = await client.send('POST', path, 'text' in body ? { text: String(body.text) } : { body: toJson(body) });
    if (reply.status >= 300) throw new Error(`${path} ${JSON.stringify(body)}: ${reply.status} ${reply.text}`);
  };
  for (const type of TYPES) await post('/types', type);
  for (const topic of TOPICS) await post('/topics', topic);
  for (const text of RULES) await post('/rules', { text });
  await post('/procedures', { text: TALLY });
  for (const name of [...LANES, 'all', 'carried']) await post('/custom/Counter', { name, n: 0 });
  await post(
    '/custom/Old',
    Array.from({ length: LARGE_ROWS }, (_, n) => ({ n })),
  );
}

/** Bulk statements over many rows, at the beginning: one of a rule, and one of a client who repeats it until it is answered. */
export async function largeBulk(client: RestClient, ledger: Ledger): Promise<void> {
  const own = new Client(client, ledger, -1, () => 0);
  await Promise.all([own.publish('bulk', 'large', { rows: LARGE_ROWS }), own.eraseOld()]);
}

/**
 * Until `stop`; then each client ends what it has begun.
 * @param first the number of the first client
 */
export async function work(client: RestClient, ledger: Ledger, random: () => number, stop: AbortSignal, first = 0): Promise<void> {
  const one = async (number: number): Promise<void> => {
    const own = new Client(client, ledger, number, random);
    while (!stop.aborted) {
      await own.something();
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => one(first + number)));
}

class Client {
  readonly #client: RestClient;
  readonly #ledger: Ledger;
  readonly #number: number;
  readonly #random: () => number;
  #tasks = 0;

  constructor(client: RestClient, ledger: Ledger, number: number, random: () => number) {
    this.#client = client;
    this.#ledger = ledger;
    this.#number = number;
    this.#random = random;
  }

  async something(): Promise<void> {
    const key = `${this.#number}-${++this.#tasks}`;
    const chance = this.#random();
    if (chance < 0.4) return this.#order(key);
    if (chance < 0.55) return void (await this.publish('mark', key));
    if (chance < 0.6) return void (await this.publish('sure', key));
    if (chance < 0.65) return void (await this.publish('again', key));
    if (chance < 0.85) return this.#pair(key);
    if (chance < 0.95) return this.#plan(key);
    await this.publish('bulk', key, { rows: BULK_ROWS });
  }

  /** Its unique key tells whether an earlier try was stored. */
  async #order(key: string): Promise<void> {
    const lane = LANES[Math.floor(this.#random() * LANES.length)] as string;
    for (let tries = 1; ; tries++, await sleep(REPEAT_MS)) {
      const reply = await this.#send('/custom/Order', { key, lane });
      if (reply?.status === 200 || (reply?.status === 409 && tries > 1)) break;
    }
    this.#ledger.orders.push({ key, lane, client: this.#number });
  }

  async #pair(key: string): Promise<void> {
    const isInverse = this.#random() < 0.25;
    if (isInverse) this.#ledger.inverse.add(key);
    const [first, second] = isInverse ? (['shut', 'open'] as const) : (['open', 'shut'] as const);
    if ((await this.publish(first, key)) === 'promised') await this.publish(second, key);
  }

  async #plan(key: string): Promise<void> {
    const interval = 50 + Math.floor(this.#random() * LONGEST_PLAN_MS);
    this.#note('planned', key, await this.#send('/scheduledevents', { topic: '/chaos/planned', interval, message: { key } }));
  }

  /** @returns null: it was refused, and has no effect */
  async publish(topic: string, key: string, more: object = {}): Promise<Promised | null> {
    return this.#note(topic, key, await this.#send(`/topics//chaos/${topic}`, { key, ...more }));
  }

  /** Each try may go on by itself after its connection is gone. */
  async eraseOld(): Promise<void> {
    while ((await this.#send('/custom/Old?where=%7B%7D', null))?.status !== 204) await sleep(REPEAT_MS);
  }

  #note(topic: string, key: string, reply: Reply | null): Promised | null {
    const isRefused = reply !== null && reply.status === 429;
    if (isRefused) return null;
    const promise = reply !== null && reply.status < 300 ? 'promised' : 'perhaps';
    const known = this.#ledger.messages.get(topic) ?? new Map<string, Promised>();
    this.#ledger.messages.set(topic, known.set(key, promise));
    return promise;
  }

  /** @param body null: a DELETE @returns null: no answer */
  async #send(path: string, body: object | null): Promise<Reply | null> {
    const sentAt = performance.now();
    const reply = await this.#client.send(body ? 'POST' : 'DELETE', path, body ? { body: toJson(body) } : {}).catch(() => null);
    const { refusals, unclear, outages } = this.#ledger;
    if (reply && reply.status < 300) outages.served(sentAt);
    if (reply && reply.status >= 300 && reply.status !== 409) {
      const code = /"code":"([^"]*)"/.exec(reply.text)?.[1] ?? '';
      if (code === 'cascade.server.unavailable' || code === 'cascade.quota.exceeded') refusals.set(code, (refusals.get(code) ?? 0) + 1);
      else unclear.push(`${path}: ${reply.status} ${reply.text.slice(0, 300)}`);
    }
    return reply;
  }
}

const toJson = (value: object): Json => parseJson(JSON.stringify(value));
