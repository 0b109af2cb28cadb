// `npm run bench -- [NAME… | all] [--json] [--rounds N] [--seconds S] [--peers] [--only PART] [--report FILE] [--output FILE] [--compare FILE]`: every figure
// beside a baseline measured in the same run, and beside those of an earlier run; exit code 1 when one is worse beyond noise.
// Rounds and their length are those of the benchmarks under load (api, durable); peers are those of `rules` and `correlate` on a Java machine, which
// `all` has, too; the parts are those of `durable`. `--report` without a file writes bench.html.

import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { comparedCells } from '../server/cli/bench/index.ts';
import { compareRuns, type Figure, htmlOf, machine, readRun, toText } from './report/index.ts';
import { api } from './api.ts';
import { builtins } from './builtins.ts';
import { cluster } from './cluster/index.ts';
import { compilation } from './compile.ts';
import type { Effort } from './compare.ts';
import { correlate } from './correlate.ts';
import { documents } from './documents.ts';
import { durable } from './durable/index.ts';
import { front } from './front.ts';
import { idle } from './idle.ts';
import { mqttBench } from './mqtt/index.ts';
import { nodesBench } from './nodes/index.ts';
import { canRunPeers } from './peers/index.ts';
import { partitionsBench } from './partitions/index.ts';
import { remoteBench } from './remote/index.ts';
import { rights } from './rights.ts';
import { rules } from './rules/index.ts';
import { sandbox } from './sandbox.ts';
import { stream } from './stream.ts';
import { triggerIndex } from './trigger-index.ts';

const BENCHES: Readonly<
  Record<
    string,
    (effort: Effort & { readonly peers: boolean; readonly only?: string | undefined }) => Promise<Figure[]> | AsyncIterable<Figure>
  >
> = {
  rules,
  api,
  rights,
  durable,
  stream,
  front,
  idle,
  sandbox,
  index: triggerIndex,
  compile: compilation,
  documents,
  correlate,
  cluster,
  builtins,
  mqtt: mqttBench,
  remote: remoteBench,
  nodes: nodesBench,
  partitions: partitionsBench,
};

const args = process.argv.slice(2).flatMap((arg, n, all) => {
  const hasFile = arg !== '--report' || (all[n + 1] !== undefined && !all[n + 1]?.startsWith('-'));
  return hasFile ? [arg] : [arg, 'bench.html'];
});
const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    peers: { type: 'boolean', default: false },
    only: { type: 'string' },
    report: { type: 'string' },
    output: { type: 'string' },
    compare: { type: 'string' },
  },
});
const isAll = positionals.length === 0 || positionals.includes('all');
const peers = values.peers || (positionals.includes('all') && (await canRunPeers()));
if (positionals.includes('all') && !peers)
  console.error('Drools and Esper are left out: they need java, javac and mvn (apt-get install maven default-jdk-headless).');
const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds), peers, only: values.only };
if (!(Number.isInteger(effort.rounds) && effort.rounds > 0 && effort.seconds > 0)) {
  console.error('--rounds is a whole number above 0, --seconds a number above 0.');
  process.exit(2);
}
const names = isAll ? Object.keys(BENCHES) : positionals;
const unknown = positionals.find((name) => name !== 'all' && !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  console.error(`There is no benchmark '${unknown}'; there are all, ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}
// Before minutes of measuring.
const base =
  values.compare === undefined
    ? null
    : await readRun(values.compare).catch((error: Error) => {
        console.error(`--compare: ${error.message}`);
        process.exit(2);
      });
const figures: Figure[] = [];
const about = machine();
const kept = (): string => JSON.stringify({ machine: about, figures }, null, 1);
for (const name of names) {
  console.error(`· ${name}…`);
  try {
    for await (const figure of (await BENCHES[name]?.(effort)) ?? []) {
      figures.push({ bench: name, ...figure });
      if (!values.json) console.log(toText(figure));
    }
  } catch (error) {
    // What needs a broker or a Java machine that is not there must not end the others.
    process.exitCode = 1;
    console.error(`✗ ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (values.output !== undefined) await writeFile(values.output, `${kept()}\n`); // what comes next may take long, and may be interrupted
}
const run = { machine: about, figures };
const compared = base ? compareRuns(base, run) : [];
if (values.report !== undefined) await writeFile(values.report, htmlOf(run, compared));
if (values.json) console.log(kept());
else for (const one of compared) console.log(comparedCells(one).join('  '));
if (compared.some(({ verdict }) => verdict === 'worse')) process.exitCode = 1;
