// `npm run conformance -- [--url URL --user U --password P] [--in-process] [--coverage DIR] [AREA]`: the suite against this or any other server.
// The last line is `N passed, N failed`; the exit code is 0 when none failed.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NEEDS_MORE, RestClient, startPrograms, startService } from './client/index.ts';
import { EXPECTED_ERRORS } from './expected-errors.ts';
import { type CaseFile, coverage, readCases, readKnownFailures, runSuite, testReferences } from './runner/index.ts';

const USAGE = `usage: npm run conformance -- [--url URL --user U --password P] [--in-process] [--coverage DIR] [AREA]
  without --url a service is started for the run
  --in-process    only the cases that need programs alone, against a service of programs without a store: a matter of seconds
  --coverage DIR  which rows and sections of the specification in DIR no case and no test names (runs nothing)
  AREA            a folder or file below conformance/cases, such as rules or rules/when-where`;

/** What `--in-process` runs of: elsewhere hardly a case is about programs alone. */
const PROGRAM_AREAS: ReadonlySet<string> = new Set(['builtins', 'expressions', 'language', 'procedures', 'rules', 'statements']);

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  if (values.help || positionals.length > 1) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const suite = folder();
  const files = readCases(join(suite, 'cases'), positionals[0]);
  if (files.length === 0) {
    console.error(`There are no cases in '${positionals[0]}'`);
    return 2;
  }
  if (values.coverage !== undefined) return reportCoverage(values.coverage, files);
  if (values.url !== undefined) return run(suite, files, values.url, values.user ?? 'admin', values.password ?? '');
  if (values['in-process']) {
    await using service = await startPrograms();
    const programs = files.filter(({ name }) => PROGRAM_AREAS.has(name.split('/')[0] ?? ''));
    return await run(suite, programs, service.url, '', '', true);
  }
  await using service = await startService({ expects: EXPECTED_ERRORS });
  return await run(suite, files, service.url, service.user, service.password);
}

async function run(suite: string, files: CaseFile[], url: string, user: string, password: string, programsOnly = false): Promise<number> {
  const client = new RestClient(url);
  try {
    await client.login(user, password);
    const known = readKnownFailures(join(suite, 'known-failures.yaml'));
    const result = await runSuite(client, files, known, (line) => programsOnly || console.log(line));
    const { passed, knownToFail } = result;
    const failed = result.failed.filter(({ failure }) => !programsOnly || !failure?.includes(NEEDS_MORE));
    if (programsOnly) {
      for (const { name, failure } of failed) console.log(`✗ ${name}\n      ${failure}`);
      console.log(`${result.failed.length - failed.length} need the whole service`);
    }
    if (knownToFail > 0) console.log(`${knownToFail} known to fail (known-failures.yaml)`);
    console.log(`${passed} passed, ${failed.length} failed`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    client.close();
  }
}

function reportCoverage(specFolder: string, files: CaseFile[]): number {
  for (const { file, sections, rows, byTest } of coverage(specFolder, files, testReferences(dirname(folder())))) {
    console.log(
      `${file}: sections ${sections.all.length - sections.missing.length}/${sections.all.length}, rows ${rows.all.length - rows.missing.length}/${rows.all.length}`,
    );
    if (sections.missing.length > 0) console.log(`  sections without a case: ${sections.missing.join(' ')}`);
    if (rows.missing.length > 0) console.log(`  rows without a case: ${rows.missing.join(' ')}`);
    if (byTest.length > 0) console.log(`  by a test, not a case: ${byTest.join(' ')}`);
  }
  return 0;
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  return parseArgs({
    args,
    allowPositionals: true,
    options: { url: text, user: text, password: text, coverage: text, 'in-process': { type: 'boolean' }, help: { type: 'boolean' } },
  });
}

/** The folder conformance/ of the repository, whether this runs from its source or from dist/. */
function folder(): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  return join(root, 'conformance');
}
