// Events per second through compiled rules: trigger index, sandbox process, lane, isolate and back, for 1 and 1,000 rules on one
// type of which one matches each event; beside the same rule by hand in this process, and beside json-rules-engine.

import { createHash } from 'node:crypto';
import { type Almanac, Engine } from 'json-rules-engine';
import pino from 'pino';
import { type CompiledRule, compile } from '../compiler/index.ts';
import { openSandbox, type Program, type Sandbox } from '../runtime/sandbox/index.ts';
import { TriggerIndex } from '../runtime/triggers/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { encodeInner, type ObjectValue } from '../stdlib/values/index.ts';
import type { Figure } from './report.ts';

const ROUNDS = 5;
const EVENTS = 40_000;
const IN_FLIGHT = 2_000;
const PEER_EVENTS = 2_000;

interface Reading extends Record<string, string | number | boolean> {
  sensor: string;
  rate: number;
}

const events = (count: number, sensors: number): Reading[] =>
  Array.from({ length: count }, (_, i) => ({
    sensor: `s${i % sensors}`,
    rate: (i % 100) + 0.5,
    pressure: i % 7,
    site: 'north',
    unit: 'bar',
    ok: true,
    line: i % 3,
    batch: i,
    shift: 'late',
    note: 'regular reading',
  }));

/** What each rule computes of an event that it takes; by hand below. */
const ruleText = (n: number): string => `RULE r${n} WHEN INSERT OCCURS ON Reading AS e WHERE e.sensor == "s${n}"
var score = e.rate * 2 + e.pressure
if (score > 150) { score = score - 150 }
score`;
const byHand = (e: Reading): number => {
  let score = e.rate * 2 + (e['pressure'] as number);
  if (score > 150) score -= 150;
  return score;
};

export async function rules(): Promise<Figure[]> {
  const sandbox = await openSandbox({ log: pino({ level: 'silent' }), resolveProcedure: async () => null });
  try {
    const figures: Figure[] = [];
    for (const count of [1, 1_000]) figures.push(await withRules(sandbox, count));
    return figures;
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

async function withRules(sandbox: Sandbox, count: number): Promise<Figure> {
  const index = new TriggerIndex({ typeOf: () => null, builtin: () => undefined, namespace: 'bench', onError: () => undefined });
  for (let n = 0; n < count; n++) {
    const compiled = compile(ruleText(n), { builtins: builtinTable(), kind: 'rule' });
    if (!compiled.ok) throw new Error(compiled.diagnostics.map((one) => one.message).join('\n'));
    const rule = compiled.unit as CompiledRule;
    const hash = createHash('sha256').update(rule.module.source).digest('hex');
    const id = createHash('sha256').update(`${hash}${rule.module.constants}`).digest('hex');
    const program: Program = { id, module: { hash, source: rule.module.source }, constantsJson: rule.module.constants };
    index.add({ name: rule.fullName, baseName: rule.name, version: null, triggers: rule.triggers, where: null, payload: program });
  }
  const stream = events(EVENTS, count);
  const peerStream = events(PEER_EVENTS, count);
  const hand = new Map(Array.from({ length: count }, (_, n) => [`s${n}`, byHand] as const));
  const engine = peer(count);
  const ours: number[] = [];
  const plain: number[] = [];
  const peers: number[] = [];
  await throughSandbox(sandbox, index, stream.slice(0, 5_000));
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await rate(stream.length, () => throughSandbox(sandbox, index, stream)));
    plain.push(await rate(stream.length * 20, async () => throughHand(hand, stream, 20)));
    peers.push(await rate(peerStream.length, () => throughPeer(engine, peerStream)));
  }
  return {
    name: `rules: ${count.toLocaleString('en')} on one type, one matches`,
    unit: 'events/s',
    rounds: { 'cascade (sandbox process)': ours, 'by hand, in process': plain, 'json-rules-engine': peers },
  };
}

async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return count / ((performance.now() - begun) / 1_000);
}

/** Results go here, so that no engine can leave out the work. */
const sink = { sum: 0 };
function throughHand(hand: ReadonlyMap<string, typeof byHand>, stream: readonly Reading[], times: number): void {
  for (let time = 0; time < times; time++) for (const event of stream) sink.sum += hand.get(event.sensor)?.(event) ?? 0;
}

let runs = 0;
function throughSandbox(sandbox: Sandbox, index: TriggerIndex, stream: readonly Reading[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let open = 0;
    const pump = (): void => {
      while (open < IN_FLIGHT && next < stream.length) {
        const event = stream[next++] as unknown as ObjectValue;
        const matched = index.match('/types/Reading/insert', event, () => event);
        const key = `e${runs}`;
        const json = encodeInner(event);
        for (const { payload, name } of matched) {
          open++;
          sandbox.start({
            id: `r${runs++}`,
            namespace: 'bench',
            program: payload as Program,
            argsJson: '[]',
            event: { key, binds: 'value', json },
            opts: { at: 0, seed: key, namespace: 'bench', username: 'bench', resource: name },
            observer: {
              op: () => reject(new Error('the rule asked for something')),
              log: () => undefined,
              fail: (failure) => reject(new Error(failure.message)),
              done: () => {
                open--;
                if (next < stream.length) pump();
                else if (open === 0) resolve();
              },
            },
          });
        }
      }
    };
    pump();
  });
}

function peer(count: number): Engine {
  const engine = new Engine();
  for (let n = 0; n < count; n++)
    engine.addRule({
      conditions: { all: [{ fact: 'sensor', operator: 'equal', value: `s${n}` }] },
      event: { type: 'match' },
      // It awaits what this returns, though its type does not say so.
      onSuccess: (_event, almanac) => computed(almanac) as unknown as undefined,
    });
  return engine;
}

async function computed(almanac: Almanac): Promise<void> {
  const [rate, pressure] = await Promise.all([almanac.factValue<number>('rate'), almanac.factValue<number>('pressure')]);
  sink.sum += byHand({ sensor: '', rate, pressure });
}

async function throughPeer(engine: Engine, stream: readonly Reading[]): Promise<void> {
  for (const event of stream) await engine.run(event);
}
