// `npm run faults [-- NUMBER…]`: puts each seeded fault (list.ts) into a copy of the service of programs and runs the conformance cases
// that need programs alone against it. Prints which faults the cases notice; exits 1 when fewer than nine in ten are.
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { NEEDS_MORE, RestClient, startPrograms } from '../../conformance/client/index.ts';
import { type CaseFile, readCases, runSuite } from '../../conformance/runner/index.ts';
import { FAULTS } from './list.ts';
import { type Fault, seeding } from './seeding.ts';

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))); // of the built script, in dist/scripts/faults
/** Whose cases are about programs; what is most likely to notice first. */
const AREAS = ['expressions', 'language', 'statements', 'procedures', 'builtins', 'rules'];
const WANTED = 0.9;
/** A fault may make a program endless: it is noticed then, too. No file of cases takes nearly as long otherwise, on a busy machine either. */
const LONGEST_FILE_MS = 180_000;
const late = (): Promise<'late'> => new Promise((resolve) => setTimeout(() => resolve('late'), LONGEST_FILE_MS).unref());

process.exitCode = await main(process.argv.slice(2).map(Number));

async function main(numbers: readonly number[]): Promise<number> {
  const files = AREAS.flatMap((area) => readCases(join(root, 'conformance/cases'), area));
  const folder = await mkdtemp(join(root, 'node_modules/.faults-')); // beside the packages that the bundles import
  try {
    const usual = await failing(files, await bundled(folder, null), false);
    console.log(`without a fault ${usual.size} cases do not pass here (they need the whole service)`);
    const able = passing(files, usual);
    let noticed = 0;
    const chosen = FAULTS.map((fault, i) => [i + 1, fault] as const).filter(([number]) => numbers.length === 0 || numbers.includes(number));
    for (const [number, fault] of chosen) {
      const by = await noticedBy(able, folder, fault);
      if (by !== null) noticed++;
      console.log(
        `${String(number).padStart(2)}  ${by === null ? 'NOT NOTICED' : 'noticed    '}  ${fault.what}${by === null ? '' : `\n      by ${by}`}`,
      );
    }
    console.log(`${noticed} of ${chosen.length} faults are noticed`);
    return noticed >= chosen.length * WANTED ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first case that fails because of it; null when none does. */
async function noticedBy(files: readonly CaseFile[], folder: string, fault: Fault): Promise<string | null> {
  const script = await bundled(folder, fault);
  const [found] = await failing(files, script, true);
  return found ?? null;
}

/** Without the cases that do not pass anyway; they would be waited for with each fault. */
function passing(files: readonly CaseFile[], usual: ReadonlySet<string>): CaseFile[] {
  return files
    .map((file) => ({ ...file, cases: file.cases.filter(({ name }) => !usual.has(`${file.name}: ${name}`)) }))
    .filter(({ cases }) => cases.length > 0);
}

/** The cases that fail; with `first` those of the first file that has one. */
async function failing(files: readonly CaseFile[], script: string, first: boolean): Promise<Set<string>> {
  await using service = await startPrograms(script);
  const client = new RestClient(service.url);
  const found = new Set<string>();
  try {
    await client.login('', '');
    for (const file of files) {
      const ended = await Promise.race([runSuite(client, [file], new Map(), () => undefined), late()]);
      if (ended === 'late') return new Set([`a case of ${file.name} that does not end`]);
      const { failed } = ended;
      for (const { name, failure } of failed) if (!first || !(failure ?? '').includes(NEEDS_MORE)) found.add(name);
      if (first && found.size > 0) break;
    }
    return found;
  } finally {
    client.close();
  }
}

/** The service of programs as one script, with the fault in it. */
async function bundled(folder: string, fault: Fault | null): Promise<string> {
  const outfile = join(folder, 'programs-only.mjs');
  await build({
    entryPoints: [join(root, 'scripts/programs-only.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    packages: 'external',
    logLevel: 'silent',
    plugins: fault ? [seeding(fault, root)] : [],
  });
  return outfile;
}
