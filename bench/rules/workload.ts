// Events of ten members and rules on them that differ in a name and a number, of which one takes each event; and the same by hand.

import { createHash } from 'node:crypto';
import { type Almanac, Engine } from 'json-rules-engine';
import { type CompiledRule, compile } from '../../compiler/index.ts';
import type { Program } from '../../sandbox/index.ts';
import type { IndexedRule } from '../../runtime/triggers/index.ts';
import { parseType, type TypeDefinition } from '../../model/types/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';

export const PATH = '/types/Reading/insert';

/** As the namespace declares it. */
export const READING: TypeDefinition = parseType(
  {
    name: 'Reading',
    properties: {
      ...typed('String', ['sensor', 'site', 'unit', 'shift', 'note']),
      ...typed('Integer', ['pressure', 'line', 'batch']),
      rate: { type: 'Real' },
      ok: { type: 'Boolean' },
    },
  },
  { types: new Map(), scalars: new Map() },
);

function typed(type: string, names: readonly string[]): Record<string, { type: string }> {
  return Object.fromEntries(names.map((name) => [name, { type }]));
}

export interface Reading extends Record<string, string | number | boolean> {
  sensor: string;
  rate: number;
  pressure: number;
}

/** At least as many as rules are to be met. @param hot how many of the rules they meet, in an order that no cache foresees */
export const events = (hot: number): Reading[] =>
  Array.from({ length: Math.max(65_536, hot) }, (_, i) => ({
    sensor: `s${(i * 7_919) % hot}`,
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

const LIMIT = 150;
const ruleText = (n: number): string => `RULE r${n} WHEN INSERT OCCURS ON Reading AS e WHERE e.sensor == "s${n}"
var score = e.rate * 2 + e.pressure
if (score > ${LIMIT}) { score = score - ${LIMIT + n} }
score`;
const byHand = (e: Reading, n: number): number => {
  const score = e.rate * 2 + e.pressure;
  return score > LIMIT ? score - (LIMIT + n) : score;
};

/** Results go here, so that nobody can leave out the work. */
export const sink = { sum: 0 };

/**
 * Compiled rules as a namespace holds them. A few are compiled; the others are made from the first by putting their own name and number in
 * the places where those few differ, as compiling 100,000 texts is another benchmark's subject.
 * @throws when compiled rules that differ in literals don't share their module
 */
export function rulesOf(count: number): IndexedRule[] {
  const first = compiled(0);
  const hash = sha256(first.module.source);
  const triggers: string = JSON.stringify(first.triggers);
  const made = (n: number): { triggers: string; constants: string } => ({
    triggers: triggers.replaceAll('"s0"', `"s${n}"`),
    constants: JSON.stringify(
      (JSON.parse(first.module.constants) as number[]).map((one, i, all) => (i === all.length - 1 ? LIMIT + n : one)),
    ),
  });
  for (const n of [7, 4_321]) {
    const rule = compiled(n);
    const other = made(n);
    const isSame = rule.module.source === first.module.source && JSON.stringify(rule.triggers) === other.triggers;
    if (!isSame || !sameMembers(rule.module.constants, other.constants)) throw new Error('rules that differ in literals share no code');
  }
  const { source, reads = null } = first.module;
  const module = { hash, source, reads };
  return Array.from({ length: count }, (_, n) => {
    const { triggers: own, constants: constantsJson } = made(n);
    const program: Program = { id: sha256(`${hash}${constantsJson}`), module, constantsJson };
    return {
      name: `r${n}`,
      baseName: `r${n}`,
      version: null,
      triggers: JSON.parse(own) as IndexedRule['triggers'],
      where: null,
      payload: program,
    };
  });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const sameMembers = (a: string, b: string): boolean =>
  (JSON.parse(a) as number[]).sort().join() === (JSON.parse(b) as number[]).sort().join();

function compiled(n: number): CompiledRule {
  const made = compile(ruleText(n), { builtins: builtinTable(), kind: 'rule' });
  if (!made.ok) throw new Error(made.diagnostics.map(({ message }) => message).join('\n'));
  return made.unit as CompiledRule;
}

/** A Map from the sensor to what is done. */
export function handMade(count: number): (event: Reading) => void {
  const hand = new Map<string, (event: Reading) => number>(
    Array.from({ length: count }, (_, n) => [`s${n}`, (event: Reading) => byHand(event, n)]),
  );
  return (event) => {
    sink.sum += hand.get(event.sensor)?.(event) ?? 0;
  };
}

/** json-rules-engine with the same rules. It tests every rule's condition for each event. */
export function jsonRulesEngine(count: number): (event: Reading) => Promise<unknown> {
  const engine = new Engine();
  for (let n = 0; n < count; n++)
    engine.addRule({
      conditions: { all: [{ fact: 'sensor', operator: 'equal', value: `s${n}` }] },
      event: { type: 'match' },
      // It awaits what this returns, though its type does not say so.
      onSuccess: (_event, almanac) => computed(almanac, n) as unknown as undefined,
    });
  return (event) => engine.run(event);
}

async function computed(almanac: Almanac, n: number): Promise<void> {
  const [rate, pressure] = await Promise.all([almanac.factValue<number>('rate'), almanac.factValue<number>('pressure')]);
  sink.sum += byHand({ sensor: '', rate, pressure }, n);
}
