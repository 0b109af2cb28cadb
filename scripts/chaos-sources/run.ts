// One broker and the service under load, each killed, stopped and started again in turn: then what the broker has confirmed to the publisher is compared with
// what the rule has stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import type { Broker } from '../brokers/index.ts';
import type { Peer, Publisher } from './peers.ts';

export interface Options {
  /** Disturbances of the broker, and as many of the service. */
  readonly times: number;
  readonly perSecond: number;
  readonly seed: number;
  readonly onStep: (line: string) => void;
}

export interface Outcome {
  readonly promised: number;
  /** Not confirmed: they may be there or not. */
  readonly perhaps: number;
  readonly lost: readonly number[];
  /** Stored more than once though the broker brought them once. */
  readonly doubled: readonly number[];
  /** Brought by the broker again, and stored again: at least once is what it promises. */
  readonly repeated: number;
}

const LOAD_MS = 1_500;
const STAND_MS = 2_000;
const SETTLE_MS = 180_000;
const WINDOW = 100;
const PAGE = 2_000;
const MOST_ROWS = 10_000;

export async function chaosOf(peer: Peer, options: Options): Promise<Outcome> {
  await using broker = await peer.start();
  if (!broker) throw new Error(`the broker of ${peer.name} is not installed`);
  await peer.prepare(broker.port);
  await using service = await startService({ args: ['--outbound-addresses', '127.0.0.1'], expects: 'any' });
  await define(service, peer, broker.port);
  const load = new Load(peer, broker.port, options.perSecond);
  load.begin();
  let random = options.seed >>> 0 || 1;
  const choose = <T>(from: readonly T[]): T => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return from[(random >>> 16) % from.length] as T;
  };
  try {
    for (let time = 0; time < options.times; time++)
      for (const target of ['broker', 'service'] as const) {
        await sleep(LOAD_MS);
        const how = choose(['kill', 'stop', 'restart'] as const);
        options.onStep(`${peer.name} ${time + 1}/${options.times}: ${how} ${target}; ${load.promised.size} confirmed`);
        if (target === 'broker') await disturbBroker(peer, broker, load, how);
        else await disturbService(service, how);
      }
    await sleep(LOAD_MS);
  } finally {
    await load.end();
  }
  return await compared(service, load, peer); // before they are closed
}

type How = 'kill' | 'stop' | 'restart';

async function disturbBroker(peer: Peer, broker: Broker, load: Load, how: How): Promise<void> {
  if (how === 'stop') return stands(broker.process.pid);
  if (how === 'kill') {
    await load.pause();
    await peer.persist(broker);
    load.go();
    await broker.kill();
  } else await broker.stop();
  await broker.restart();
}

async function disturbService(service: StartedService, how: How): Promise<void> {
  if (how === 'stop') return stands(service.process.pid);
  if (how === 'kill') await service.kill();
  else {
    const { process: child } = service;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
  await service.restart();
}

async function stands(pid: number | undefined): Promise<void> {
  process.kill(pid ?? 0, 'SIGSTOP');
  await sleep(STAND_MS);
  process.kill(pid ?? 0, 'SIGCONT');
}

async function define(service: StartedService, peer: Peer, port: number): Promise<void> {
  const client = new RestClient(service.url);
  await client.login(service.user, service.password);
  const expectOk = async (path: string, options: Parameters<RestClient['send']>[2]): Promise<void> => {
    const reply = await client.send('POST', path, options);
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  };
  await expectOk('/types', { body: { name: 'Landed', properties: { n: { type: 'Integer' }, again: { type: 'Boolean' } } } });
  const text = `RULE lands WHEN EVENT OCCURS ON "/sources/chaosIn" AS e
    var p = e.properties
    var again = p.dup == true || p.redelivered == true || (p.annotations != null && p.annotations.redelivered == true)
    INSERT Landed(n: e.value.n, again: again)`;
  await expectOk('/rules', { text, headers: { 'Content-Type': 'text/plain' } });
  const source = JSON.stringify({ name: 'chaosIn', type: peer.type, config: peer.config(port) });
  await expectOk('/sources', { text: source, headers: { 'Content-Type': 'application/json' } });
  for (let tries = 0; ; tries++) {
    const reply = await client.send('GET', '/sources/chaosIn/_status', {});
    if (reply.text.includes('"state":"connected"')) break;
    if (tries > 600) throw new Error(`the source does not connect: ${reply.text}`);
    await sleep(100);
  }
  client.close();
}

/** Publishes at a rate, with a window; connects again when the broker is gone. */
class Load {
  readonly promised = new Set<number>();
  perhaps = 0;
  readonly #peer: Peer;
  readonly #port: number;
  readonly #perSecond: number;
  #next = 0;
  #under = 0;
  #isPaused = false;
  #isOver = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(peer: Peer, port: number, perSecond: number) {
    this.#peer = peer;
    this.#port = port;
    this.#perSecond = perSecond;
  }

  begin(): void {
    this.#ended = this.#run();
  }

  async pause(): Promise<void> {
    this.#isPaused = true;
    for (let waited = 0; this.#under > 0 && waited < 5_000; waited += 10) await sleep(10);
  }

  go(): void {
    this.#isPaused = false;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
    for (let waited = 0; this.#under > 0 && waited < 20_000; waited += 20) await sleep(20);
    this.perhaps += this.#under;
  }

  async #run(): Promise<void> {
    let publisher: Publisher | null = null;
    let isLost = false;
    while (!this.#isOver) {
      if (isLost) {
        await publisher?.close().catch(() => undefined);
        [publisher, isLost] = [null, false];
      }
      publisher ??= await this.#peer.connect(this.#port).catch(() => null);
      if (!publisher) {
        await sleep(100);
        continue;
      }
      for (let many = Math.ceil(this.#perSecond / 100); many > 0 && !this.#isPaused && this.#under < WINDOW; many--) {
        const n = this.#next++;
        this.#under++;
        publisher.publish(n).then(
          () => this.#done(n),
          () => {
            this.#done(null);
            isLost = true;
          },
        );
      }
      await sleep(10);
    }
    await sleep(500);
    await publisher?.close().catch(() => undefined);
  }

  #done(n: number | null): void {
    this.#under--;
    if (n === null) this.perhaps++;
    else this.promised.add(n);
  }
}

interface Landed {
  readonly n: number;
  readonly again: boolean;
}

async function compared(service: StartedService, { promised, perhaps }: Load, { marksRepeats }: Peer): Promise<Outcome> {
  const client = new RestClient(service.url);
  await client.login(service.user, service.password);
  let rows: Landed[] = [];
  const lostOf = (): number[] => {
    const there = new Set(rows.map(({ n }) => n));
    return [...promised].filter((n) => !there.has(n));
  };
  for (const until = performance.now() + SETTLE_MS; ; await sleep(1_000)) {
    rows = await all(client);
    if (lostOf().length === 0 || performance.now() > until) break;
  }
  const [first, again] = [new Map<number, number>(), new Map<number, number>()];
  for (const row of rows) (row.again ? again : first).set(row.n, ((row.again ? again : first).get(row.n) ?? 0) + 1);
  const doubled = marksRepeats ? [...first].filter(([, count]) => count > 1).map(([n]) => n) : [];
  const repeated = rows.length - new Set(rows.map(({ n }) => n)).size - doubled.length;
  client.close();
  return { promised: promised.size, perhaps, lost: lostOf(), doubled, repeated };
}

async function all(client: RestClient): Promise<Landed[]> {
  const rows: Landed[] = [];
  for (let from = 0; ; from += PAGE) {
    const where = JSON.stringify({ n: { $gte: from, $lt: from + PAGE } });
    const reply = await client.send('GET', '/custom/Landed', { query: { limit: String(MOST_ROWS), where } });
    if (reply.status !== 200) throw new Error(reply.text);
    const page = JSON.parse(reply.text) as Landed[];
    rows.push(...page);
    if (page.length === 0) return rows;
  }
}
