// `npm run mutation [-- FOLDER…] [--sample N] [--seed S] [--check] [--record]`: changes the code of the pure rooms at random places, one at a
// time (StrykerJS), and tells which changes no test notices. Scores of each folder are kept in scores.json; accepted.yaml names survivors that
// are no gap, with a reason each.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readAccepted } from './accepted.ts';
import { nameOf } from './mutant.ts';
import { patternsOf, ROOMS, type Room } from './rooms.ts';
import { type Judged, type Report, type Score, fallen, judge, recorded } from './score.ts';
import { strykerIn, type Tool } from './tool.ts';

const USAGE = `usage: npm run mutation [-- FOLDER…] [--sample N] [--seed S] [--check] [--record]
  FOLDER      such as compiler/2-check or stdlib; all pure rooms without
  --sample N  mutants of each folder (60)
  --seed S    which ones (1)
  --check     ends with 1 when a score has fallen by more than chance, or none is recorded
  --record    writes the scores`;

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))); // of the built script, in dist/scripts/mutation
const here = join(root, 'scripts', 'mutation');
const scoresFile = join(here, 'scores.json');

process.exitCode = main(process.argv.slice(2));

function main(args: string[]): number {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      check: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [size, seed] = [Number(values.sample), Number(values.seed)];
  const wanted = positionals.length > 0 ? positionals.map((path) => path.replace(/\/$/, '')) : ROOMS.map(({ name }) => name);
  const unknown = wanted.find((path) => !ROOMS.some(({ name }) => patternsOf(name, [path]).length > 0));
  if (values.help || !(size > 0) || !Number.isSafeInteger(seed) || unknown !== undefined) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const accepted = readAccepted(readFileSync(join(here, 'accepted.yaml'), 'utf8'));
  const tool = strykerIn(root, (line) => console.log(`· ${line}`));
  const before = JSON.parse(readFileSync(scoresFile, 'utf8')) as Record<string, Score>;
  const now: Record<string, Score> = {};
  for (const room of ROOMS) {
    const mutate = patternsOf(room.name, wanted);
    if (mutate.length === 0) continue;
    const report = measured(tool, room, mutate, size, seed);
    if (!report) return 1;
    const judged = judge(report, new Set(accepted.map(nameOf)), seed, new Date().toISOString().slice(0, 10));
    Object.assign(now, judged.scores);
    tell(judged, before);
  }
  const reasons = fallen(now, before);
  if (values.check) for (const reason of reasons) console.error(`RED: ${reason}`);
  if (values.record) writeFileSync(scoresFile, recorded(before, now));
  return values.check && reasons.length > 0 ? 1 : 0;
}

/** @returns null when Stryker could not measure, and has said why */
function measured(tool: Tool, room: Room, mutate: readonly string[], size: number, seed: number): Report | null {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-mutation-'));
  try {
    const report = join(folder, 'report.json');
    const config = join(folder, 'stryker.config.json');
    writeFileSync(
      config,
      JSON.stringify({
        mutate,
        testRunner: 'vitest',
        plugins: [tool.vitestRunner, join(root, 'dist/scripts/mutation/sampled.js')],
        checkers: ['sampled'],
        vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
        coverageAnalysis: 'perTest',
        dryRunTimeoutMinutes: 60,
        concurrency: 1,
        // On a machine that becomes busier than it was at the first run a survivor, which has all its tests run, would count as noticed.
        timeoutFactor: 3,
        timeoutMS: 60_000,
        disableTypeChecks: false,
        tempDirName: 'node_modules/.cache/mutated',
        ignorePatterns: ['dist', 'data'],
        reporters: ['json', 'progress-append-only'],
        jsonReporter: { fileName: report },
        warnings: { slow: false },
        allowConsoleColors: false,
      }),
    );
    const { status } = spawnSync(process.execPath, [tool.program, 'run', config], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, CASCADE_MUTATION_ROOM: room.name, CASCADE_MUTATION_SAMPLE: JSON.stringify({ size, seed }) },
    });
    return status === 0 ? (JSON.parse(readFileSync(report, 'utf8')) as Report) : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell({ scores, survivors, accepted }: Judged, before: Readonly<Record<string, Score>>): void {
  for (const { file, at, change, uncovered } of survivors) console.log(`${file}:${at}: ${change}${uncovered ? ' (runs in no test)' : ''}`);
  for (const [folder, { score, sample, mutants }] of Object.entries(scores))
    console.log(
      `${folder.padEnd(24)} ${score.toFixed(1).padStart(5)} % of ${sample} (${mutants} in all)  before: ${before[folder]?.score ?? '-'}`,
    );
  if (accepted > 0) console.log(`${accepted} accepted`);
}
