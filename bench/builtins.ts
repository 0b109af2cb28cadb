// Built-ins by themselves: nanoseconds a call of the thirty that programs use most, inside an isolate, beside the same written by hand in
// plain JavaScript in the same isolate; and what the bundle that holds them all weighs and takes to load.

import { readFileSync } from 'node:fs';
import ivm from 'isolated-vm';
import type { Figure } from './report/index.ts';

const ROUNDS = 5;
const ROUND_MS = 25;
const LOADS = 15;
const BUNDLE = new URL('../stdlib/isolate-bundle.js', import.meta.url);

/** A built-in, its arguments for turn `i`, and the same by hand; all are texts of JavaScript, evaluated in the isolate. */
type Pair = readonly [name: string, form: 'builtin' | 'method', args: string, byHand: string];

/** What arguments are made of: eight of each, so that no call is always the same. */
const INPUTS = `
  const TEXTS = ['alpha', 'beta gamma', 'delta-7', 'Epsilon', ' zeta ', 'eta', 'theta,iota', 'kappa'];
  const LISTS = TEXTS.map((text, i) => [i, text, null, { a: i }]);
  const NUMBERS = [3, 1, 4, 1, 5, 9, 2, 6];
  const OBJECTS = TEXTS.map((text, i) => ({ __proto__: null, _id: text, name: text, n: i, ars_version: 1 }));
  const JSONS = OBJECTS.map((object) => JSON.stringify(object));
  const DIGITS = ['1', '22', '333', '4444', '5', '66', '777', '8888'];
  const DATES = NUMBERS.map((n) => $rt.builtin('toDate')({ now: () => 0 }, 1.7e12 + n));
  const WALL = NUMBERS.map((n) => new Date(1.7e12 + n));
  const at = (list, i) => list[i & 7];`;

const PAIRS: readonly Pair[] = [
  ['length', 'method', 'at(TEXTS, i)', 'at(TEXTS, i).length'],
  ['size', 'method', 'at(LISTS, i)', 'at(LISTS, i).length'],
  ['startsWith', 'method', "at(TEXTS, i), 'de'", "at(TEXTS, i).startsWith('de')"],
  ['includes', 'method', "at(TEXTS, i), 'a'", "at(TEXTS, i).includes('a')"],
  ['indexOf', 'method', "at(TEXTS, i), 'a'", "at(TEXTS, i).indexOf('a')"],
  ['substring', 'method', 'at(TEXTS, i), 1, 3', 'at(TEXTS, i).substring(1, 3)'],
  ['substr', 'method', 'at(TEXTS, i), 1, 2', 'at(TEXTS, i).slice(1, 3)'],
  ['trim', 'method', 'at(TEXTS, i)', 'at(TEXTS, i).trim()'],
  ['concat', 'method', "at(TEXTS, i), '!'", "at(TEXTS, i) + '!'"],
  ['split', 'method', "at(TEXTS, i), ','", "at(TEXTS, i).split(',')"],
  ['replace', 'method', "at(TEXTS, i), 'a', 'b'", "at(TEXTS, i).replace(/a/g, 'b')"],
  ['equalsIgnoreCase', 'method', "at(TEXTS, i), 'ETA'", "at(TEXTS, i).toLowerCase() === 'eta'"],
  ['format', 'builtin', "'{0} of {1}', at(TEXTS, i), at(NUMBERS, i)", "at(TEXTS, i) + ' of ' + at(NUMBERS, i)"],
  ['toString', 'builtin', 'at(NUMBERS, i)', 'String(at(NUMBERS, i))'],
  ['toInteger', 'builtin', 'at(DIGITS, i)', 'Number.parseInt(at(DIGITS, i), 10)'],
  ['parseFloat', 'builtin', 'at(DIGITS, i)', 'Number.parseFloat(at(DIGITS, i))'],
  ['stringify', 'builtin', 'at(OBJECTS, i)', 'JSON.stringify(at(OBJECTS, i))'],
  ['parse', 'builtin', 'at(JSONS, i)', 'JSON.parse(at(JSONS, i))'],
  ['typeOf', 'builtin', 'at(LISTS, i)[1]', 'typeof at(LISTS, i)[1]'],
  ['has', 'builtin', "at(OBJECTS, i), 'n'", "Object.hasOwn(at(OBJECTS, i), 'n')"],
  ['Object.clone', 'builtin', 'at(OBJECTS, i)', '({ ...at(OBJECTS, i) })'],
  ['Utils.stripSystemProperties', 'builtin', 'at(OBJECTS, i)', '(({ _id, ars_version, ...rest }) => rest)(at(OBJECTS, i))'],
  ['sort', 'method', '[...NUMBERS]', '[...NUMBERS].sort((a, b) => a - b)'],
  ['count', 'builtin', 'at(LISTS, i)', 'at(LISTS, i).reduce((n, one) => (one === null ? n : n + 1), 0)'],
  ['Math.sqrt', 'builtin', 'at(NUMBERS, i)', 'Math.sqrt(at(NUMBERS, i))'],
  ['Math.pow', 'builtin', 'at(NUMBERS, i), 2', 'at(NUMBERS, i) ** 2'],
  ['now', 'builtin', '', 'new Date(1.7e12)'],
  ['plusMillis', 'method', 'at(DATES, i), 1000', 'new Date(at(WALL, i).getTime() + 1000)'],
  ['date', 'builtin', "at(DATES, i), 'date', 'ISO'", 'at(WALL, i).toISOString()'],
  ['log.debug', 'builtin', "'{} of {}', [i, 8]", '(LEVEL <= 10 ? log.push(i) : null)'],
];

/** A module like those that the compiler emits, whose program is `[which, mine, turns]`. */
const MODULE = `($rt) => {${INPUTS}
  const LEVEL = 20, log = [], kept = new Array(8);
  ${PAIRS.map(([name, form], index) => `const f${index} = $rt.${form}(${JSON.stringify(name)});`).join('\n  ')}
  const ours = [${PAIRS.map(
    ([, , args], index) =>
      `($, n) => { for (let i = 0; i < n; i++) kept[i & 7] = f${index}(${['$', ...(args === '' ? [] : [args])].join(', ')}); }`,
  ).join(',\n  ')}];
  const byHand = [${PAIRS.map(([, , , text]) => `(n) => { for (let i = 0; i < n; i++) kept[i & 7] = ${text}; }`).join(',\n  ')}];
  return ($, which, mine, turns) => { mine ? ours[which]($, turns) : byHand[which](turns); return null; };
}`;

export async function builtins(): Promise<Figure[]> {
  const source = readFileSync(BUNDLE, 'utf8');
  const calls = new Calls(source);
  const figures: Figure[] = [];
  try {
    PAIRS.forEach(([name], which) => {
      const rounds: Record<string, number[]> = { 'built-in': [], 'by hand': [] };
      const turns = [true, false].map((mine) => calls.turnsFor(which, mine));
      for (let round = -1; round < ROUNDS; round += 1)
        for (const [index, mine] of [true, false].entries()) {
          const took = calls.nanoseconds(which, mine, turns[index] ?? 1);
          if (round >= 0) rounds[mine ? 'built-in' : 'by hand']?.push(took); // the first round warms
        }
      figures.push({ name: `built-ins, ${name}`, unit: 'ns a call', rounds });
    });
  } finally {
    calls.dispose();
  }
  return [...figures, loading(source)];
}

/** One isolate with the bundle, as a lane has it. */
class Calls {
  readonly #isolate = new ivm.Isolate({ memoryLimit: 256 });
  readonly #step: ivm.Reference<(batch: readonly [string]) => [string]>;
  #runs = 0;

  constructor(bundle: string) {
    const context = this.#isolate.createContextSync();
    this.#isolate.compileScriptSync(bundle).runSync(context);
    context.evalSync(`$cascade.define('bench', ${MODULE})`);
    this.#step = context.evalSync('$cascade.step', { reference: true }) as ivm.Reference<(batch: readonly [string]) => [string]>;
    this.#send([['bind', 'bench', 'bench', []]]);
  }

  /** As many turns as take a round. */
  turnsFor(which: number, mine: boolean): number {
    for (let turns = 256; ; turns *= 2) {
      const took = this.nanoseconds(which, mine, turns) * turns;
      if (took > ROUND_MS * 1e6 || turns > 1e7) return turns;
    }
  }

  nanoseconds(which: number, mine: boolean, turns: number): number {
    this.#runs += 1;
    const options = { at: 1.7e12, seed: 's', fuel: 1e9, memory: 1e15, namespace: 'main', username: 'u', resource: '/rules/r' };
    const begun = process.hrtime.bigint();
    const out = this.#send([['start', `r${this.#runs}`, 'bench', 'main', [which, mine, turns], options]]);
    const took = Number(process.hrtime.bigint() - begun);
    if (!/"(?:done|ended)"/.test(out)) throw new Error(`${PAIRS[which]?.[0]}: ${out.slice(0, 300)}`);
    return took / turns;
  }

  dispose(): void {
    this.#isolate.dispose();
  }

  #send(items: unknown[]): string {
    return String(this.#step.applySync(undefined, [[JSON.stringify(items)]], { arguments: { copy: true }, result: { copy: true } }));
  }
}

/** A fresh isolate with the bundle, from V8's code cache as the lanes have it, beside compiling it anew. */
function loading(source: string): Figure {
  const first = new ivm.Isolate({ memoryLimit: 64 });
  const compiled = first.compileScriptSync(source, { produceCachedData: true }) as { cachedData?: ivm.ExternalCopy<ArrayBuffer> };
  const { cachedData } = compiled;
  if (!cachedData) throw new Error('V8 gave no code cache');
  const cacheBytes = cachedData.copy().byteLength;
  const load = (cached: boolean): number => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    const begun = process.hrtime.bigint();
    const context = isolate.createContextSync();
    isolate.compileScriptSync(source, cached ? { cachedData } : {}).runSync(context);
    const took = Number(process.hrtime.bigint() - begun) / 1_000;
    isolate.dispose();
    return took;
  };
  const rounds: Record<string, number[]> = { 'from the code cache': [], 'compiled anew': [] };
  for (let round = -1; round < LOADS; round += 1) {
    const [cached, anew] = [load(true), load(false)];
    if (round < 0) continue;
    rounds['from the code cache']?.push(cached);
    rounds['compiled anew']?.push(anew);
  }
  first.dispose();
  const besides = { 'from the code cache': { 'bundle KiB': source.length / 1024, 'cache KiB': cacheBytes / 1024 } };
  return { name: 'built-ins, the bundle into a fresh isolate', unit: 'µs', rounds, besides };
}
