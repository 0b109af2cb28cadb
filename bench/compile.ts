// The compiler: lines a second from text to verified JavaScript, beside TypeScript's transpileModule of the same programs written in
// TypeScript (which checks no names and verifies nothing); and how long a namespace of 10,000 rules takes to open: compiled anew, and
// from the output that is kept.

import ts from 'typescript';
import { compile } from '../compiler/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { type Figure, median, timesAsMuch } from './report/index.ts';
import { loadRules } from './load-rules.ts';

const ROUNDS = 7;
const ROUND_MS = 600;

/** The same programs twice: what a rule says, and what a person would write in TypeScript against a client library. */
const PAIRS: readonly (readonly [ours: string, theirs: string])[] = [
  [
    `// An earthquake that can be felt is an alert.
RULE raiseAlert
WHEN INSERT OCCURS ON Quake AS q WHERE q.magnitude >= 2.5 AND q.kind == "earthquake"

var level = "notice"
if (q.magnitude >= 6.0) {
  level = "severe"
} else if (q.magnitude >= 4.5) {
  level = "warning"
}
INSERT Alert(quake: q.code, network: q.network, magnitude: q.magnitude, level: level, region: q.region, at: q.at)`,
    `// An earthquake that can be felt is an alert.
rule('raiseAlert', when.insert('Quake', (q) => q.magnitude >= 2.5 && q.kind === 'earthquake'), async (q) => {

let level = "notice";
if (q.magnitude >= 6.0) {
  level = "severe";
} else if (q.magnitude >= 4.5) {
  level = "warning";
}
await db.insert('Alert', { quake: q.code, network: q.network, magnitude: q.magnitude, level: level, region: q.region, at: q.at });
});`,
  ],
  [
    `PROCEDURE Plant.summary(site String REQUIRED, least Integer DEFAULT 5): Object
var pumps = 0
var loud = []
for (p in SELECT code, rate FROM Pump WHERE site == site AND rate > least ORDER BY code) {
  pumps++
  if (p.rate * 2 + 1 > least && p.code != null) {
    push(loud, {code: p.code, rate: p.rate, text: format("{0} at {1}", p.code, p.rate)})
  }
}
try {
  var mean = pumps == 0 ? 0 : total(loud) / pumps
  PUBLISH {site: site, mean: mean} TO TOPIC "/plant/summary"
} catch (e) {
  log.warn("no summary of {}: {}", [site, e.message])
}
return {site: site, pumps: pumps, loud: loud}`,
    `export async function Plant_summary(site: string, least: number = 5): Promise<object> {
let pumps = 0;
const loud: object[] = [];
for await (const p of db.select('Pump', ['code', 'rate'], { where: { site, rate: { $gt: least } }, sort: { code: 1 } })) {
  pumps++;
  if (p.rate * 2 + 1 > least && p.code != null) {
    loud.push({ code: p.code, rate: p.rate, text: format("{0} at {1}", p.code, p.rate) });
  }
}
try {
  const mean = pumps === 0 ? 0 : total(loud) / pumps;
  await publish({ site: site, mean: mean }, "/plant/summary");
} catch (e) {
  log.warn("no summary of {}: {}", [site, e.message]);
}
return { site: site, pumps: pumps, loud: loud };
}`,
  ],
];
const linesOf = (side: 0 | 1): number => PAIRS.reduce((sum, pair) => sum + pair[side].split('\n').length, 0);

/** Lines a second of a function that reads every program once. */
function rate(lines: number, once: () => void): number {
  const begun = performance.now();
  let done = 0;
  while (performance.now() - begun < ROUND_MS) {
    once();
    done += lines;
  }
  return (1_000 * done) / (performance.now() - begun);
}

export async function compilation(): Promise<Figure[]> {
  const builtins = builtinTable();
  const ours = (): void => {
    for (const [text] of PAIRS) {
      const { ok, diagnostics } = compile(text, { builtins });
      if (!ok) throw new Error(diagnostics.map((one) => one.message).join('\n'));
    }
  };
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, sourceMap: true };
  const theirs = (): void => {
    for (const [, text] of PAIRS) ts.transpileModule(text, { compilerOptions });
  };
  const rounds: Record<string, number[]> = { 'compile()': [], transpileModule: [] };
  for (let round = -1; round < ROUNDS; round++) {
    const measured = [rate(linesOf(0), ours), rate(linesOf(1), theirs)] as const;
    if (round < 0) continue; // the first round warms
    rounds['compile()']?.push(measured[0]);
    rounds['transpileModule']?.push(measured[1]);
  }
  const loads = await loadRules();
  return [
    {
      name: 'compiler, text to verified JavaScript',
      unit: 'lines/s',
      rounds,
      aims: timesAsMuch(rounds, 'compile()', 'transpileModule', 1.5),
    },
    {
      name: `a namespace of ${loads.count.toLocaleString('en')} rules`,
      unit: 'rules/s at start',
      rounds: { 'from kept output': loads.warm, 'compiled anew': loads.cold },
      aims: [{ what: 'ms to open it from kept output', is: (1_000 * loads.count) / median(loads.warm), side: 'atMost', bound: 2_000 }],
      besides: {
        'from kept output': { ms: (1_000 * loads.count) / median(loads.warm) },
        'compiled anew': { ms: (1_000 * loads.count) / median(loads.cold) },
      },
    },
  ];
}
