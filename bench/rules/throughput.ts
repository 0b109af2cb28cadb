// Events a second through the trigger index alone, and through index, sandbox process, lane, isolate and back.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pino from 'pino';
import { openSandbox, type Program, type RunOptions, type Sandbox } from '../../sandbox/index.ts';
import { type IndexedRule, TriggerIndex } from '../../runtime/triggers/index.ts';
import { encodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import { runPeer } from '../peers/index.ts';
import { cpuSeconds, memory } from '../processes.ts';
import { type Aim, type Figure, median, progress, timesAsMuch } from '../report/index.ts';
import { events, handMade, jsonRulesEngine, PATH, READING, type Reading, rulesOf, sink } from './workload.ts';

const COUNTS = [1, 10, 100, 1_000, 10_000, 100_000];
const ROUNDS = 5;
const ROUND_MS = 400;
/** json-rules-engine takes milliseconds an event beyond. */
const MOST_FOR_PEER = 1_000;
/** Where the peers on the Java machine are measured, too. */
const WITH_PEERS = [1_000, 10_000];
/** Events whose rules have not ended yet: as many as the service has of a namespace. */
const IN_FLIGHT = 2_000;

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

export const openBenchSandbox = (): Promise<Sandbox> =>
  openSandbox({ log: pino({ level: 'silent' }), resolveProcedure: () => Promise.resolve(null), lanes: 1 });

/** What a rule starts. */
interface Ready {
  readonly program: Program;
  readonly opts: RunOptions;
}

/** All but the last digits. */
const UUID = '0b0b6f0e-1b1c-4d1e-8a0b-';
/** Of an event as text, about. */
const EVENT_LENGTH = 170;

/** As the service has an event: its text is made where it is needed. */
class EventOf {
  readonly binds = 'value';
  readonly length = EVENT_LENGTH;
  readonly key: string;
  readonly value: ObjectValue;

  constructor(key: string, value: ObjectValue) {
    this.key = key;
    this.value = value;
  }

  get json(): string {
    return encodeInner(this.value);
  }
}

/** One number of rules, in a namespace of its own. */
class Rules {
  readonly index = new TriggerIndex({ typeOf: () => READING, builtin: () => undefined, namespace: 'bench', onError: () => undefined });
  /** Bytes a rule: as compiled, and what the index adds. */
  readonly definitionBytes: number;
  readonly indexBytes: number;
  readonly #sandbox: Sandbox;
  readonly #namespace: string;
  #runs = 0;

  constructor(sandbox: Sandbox, count: number) {
    this.#sandbox = sandbox;
    this.#namespace = `bench${count}`;
    const empty = heapBytes();
    const rules = rulesOf(count).map((rule) => this.#ready(rule));
    const made = heapBytes();
    for (const rule of rules) this.index.add(rule);
    this.definitionBytes = (made - empty) / count;
    this.indexBytes = (heapBytes() - made) / count;
  }

  /** As the service has its rules. */
  #ready(rule: IndexedRule): IndexedRule {
    const opts = { level: 20, namespace: this.#namespace, username: 'bench', resource: `/rules/${rule.name}`, service: null };
    return { ...rule, payload: { program: rule.payload as Program, opts } satisfies Ready };
  }

  alone(event: Reading): void {
    if (this.index.match(PATH, event, () => ({})).length !== 1) throw new Error('one rule matches each event');
  }

  /** Runs the rules of event after event until `next` gives none. @returns how many */
  through(next: () => Reading | null): Promise<number> {
    return new Promise((resolve, reject) => {
      let open = 0;
      let done = 0;
      let over = false;
      const observer = {
        op: () => reject(new Error('the rule asked for something')),
        log: () => undefined,
        fail: (failure: { message: string }) => reject(new Error(failure.message)),
        done: () => {
          open--;
          done++;
          if (!over) pump();
          else if (open === 0) resolve(done);
        },
      };
      const pump = (): void => {
        while (open < IN_FLIGHT) {
          const event = next() as unknown as ObjectValue | null;
          if (!event) {
            over = true;
            if (open === 0) resolve(done);
            return;
          }
          const matched = this.index.match(PATH, event, () => ({}));
          const key = `${UUID}${1e11 + this.#runs}`;
          for (const {
            rule: { payload, name },
          } of matched) {
            const { program, opts } = payload as Ready;
            const id = `${key}/${name}/1`;
            open++;
            this.#runs++;
            this.#sandbox.start({
              id,
              namespace: this.#namespace,
              program,
              argsJson: '[]',
              event: new EventOf(key, event),
              at: 0,
              seed: id,
              opts,
              observer,
            });
          }
        }
      };
      pump();
    });
  }
}

/** Gives event after event for so long, or so many. */
function source(stream: readonly Reading[], ms: number, most = Number.POSITIVE_INFINITY): () => Reading | null {
  const until = performance.now() + ms;
  let next = 0;
  return () => (next < most && (next % 64 !== 0 || performance.now() < until) ? (stream[next++ % stream.length] as Reading) : null);
}

async function perSecond(work: () => Promise<number> | number): Promise<number> {
  const begun = performance.now();
  const done = await work();
  return (1_000 * done) / (performance.now() - begun);
}

function each(next: () => Reading | null, take: (event: Reading) => void): number {
  let done = 0;
  for (let event = next(); event; event = next(), done++) take(event);
  return done;
}

/** Every rule has been met and its body loaded. */
const warm = (rules: Rules, stream: readonly Reading[], hot: number): Promise<number> =>
  rules.through(source(stream, Number.POSITIVE_INFINITY, Math.max(20_000, 2 * hot)));

export async function* throughput(sandbox: Sandbox, peers: boolean): AsyncGenerator<Figure> {
  for (const count of COUNTS) {
    progress(`rules: ${count.toLocaleString('en')}`);
    const before = await memory(sandbox.pid() as number);
    const rules = new Rules(sandbox, count);
    const stream = events(count);
    const hand = handMade(count);
    const peer = count <= MOST_FOR_PEER ? jsonRulesEngine(count) : null;
    await warm(rules, stream, count);
    const after = await memory(sandbox.pid() as number);
    each(source(stream, ROUND_MS), (event) => rules.alone(event));
    const rounds: Record<string, number[]> = { 'cascade, body in the sandbox': [], 'cascade, index alone': [], 'hash index by hand': [] };
    const cost = { host: 0, sandbox: 0, events: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const [host, inside] = [process.cpuUsage(), await cpuSeconds(sandbox.pid() as number)];
      const rate = await perSecond(async () => {
        const done = await rules.through(source(stream, ROUND_MS));
        cost.events += done;
        return done;
      });
      const used = process.cpuUsage(host);
      cost.host += used.user + used.system;
      cost.sandbox += 1e6 * ((await cpuSeconds(sandbox.pid() as number)) - inside);
      rounds['cascade, body in the sandbox']?.push(rate);
      rounds['cascade, index alone']?.push(await perSecond(() => each(source(stream, ROUND_MS), (event) => rules.alone(event))));
      rounds['hash index by hand']?.push(await perSecond(() => each(source(stream, ROUND_MS / 2), hand)));
      if (peer) (rounds['json-rules-engine'] ??= []).push(await perSecond(() => throughPeer(peer, source(stream, ROUND_MS, 640))));
    }
    if (peers && WITH_PEERS.includes(count))
      for (const name of ['Drools', 'Esper'] as const) {
        progress(`rules: ${count.toLocaleString('en')} in ${name}`);
        rounds[name] = await runPeer(name, count, ROUNDS, 1);
      }
    yield {
      name: `rules: ${count.toLocaleString('en')} on one type, one matches`,
      unit: 'events/s',
      rounds,
      at: { series: 'rules: on one type, one matches', axis: 'rules', x: count },
      aims: [
        ...['Drools', 'Esper'].flatMap((peer) => timesAsMuch(rounds, 'cascade, body in the sandbox', peer, 3)),
        ...(count === 10_000 ? timesAsMuch(rounds, 'cascade, index alone', 'hash index by hand', 0.3) : []),
        ...(count === 10_000 ? [{ what: 'bytes of a rule in the index', is: rules.indexBytes, side: 'atMost' as const, bound: 800 }] : []),
      ],
      besides: {
        'cascade, body in the sandbox': {
          'µs CPU here': cost.host / cost.events,
          'µs CPU in the sandbox': cost.sandbox / cost.events,
          ...(count >= 10_000 && { 'bytes a rule in the sandbox': ((after.now - before.now) * 1024 * 1024) / count }),
        },
        ...(count >= 1_000 && {
          'cascade, index alone': { 'bytes a rule': rules.indexBytes, 'bytes a rule as compiled': rules.definitionBytes },
        }),
      },
    };
  }
  if (Number.isNaN(sink.sum)) throw new Error('a rule computed no number');
}

async function throughPeer(run: (event: Reading) => Promise<unknown>, next: () => Reading | null): Promise<number> {
  let done = 0;
  for (let event = next(); event; event = next(), done++) await run(event);
  return done;
}

/** What many rules cost beside few, when events meet all of them, and when they meet a thousand: in turn, so that noise meets all alike. */
export async function manyBesideFew(sandbox: Sandbox): Promise<Figure> {
  const MANY = 100_000;
  progress('rules: 100,000 beside 10');
  const many = new Rules(sandbox, MANY);
  const contestants = {
    '100,000 rules, events meet 1,000': { rules: many, stream: events(1_000), hot: 1_000 },
    '100,000 rules, events meet all': { rules: many, stream: events(MANY), hot: MANY },
    '10 rules': { rules: new Rules(sandbox, 10), stream: events(10), hot: 10 },
  };
  const rounds: Record<string, number[]> = {};
  for (const { rules, stream, hot } of Object.values(contestants)) await warm(rules, stream, hot);
  for (let round = 0; round < 2 * ROUNDS; round++)
    for (const [name, { rules, stream }] of Object.entries(contestants))
      (rounds[name] ??= []).push(await perSecond(() => rules.through(source(stream, 2 * ROUND_MS))));
  const few = median(rounds['10 rules'] ?? []);
  const cost = (name: keyof typeof contestants, bound: number): Aim => ({
    what: `the cost of an event, ${name} / 10 rules`,
    is: few / median(rounds[name] ?? []),
    side: 'atMost',
    bound,
  });
  const aims = [cost('100,000 rules, events meet 1,000', 1.2), cost('100,000 rules, events meet all', 1.6)];
  return { name: 'rules: body in the sandbox, 100,000 rules beside 10', unit: 'events/s', rounds, aims };
}
