// Reads files of cases and runs them against a base URL, for the conformance suite and for `cascade test`; tells what happened.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { RestClient } from '../client/index.ts';
import { type CaseFile, readCaseFile } from './case-file.ts';
import { type Outcome, runFile } from './run-file.ts';
import { type Pace, realTime } from './scene.ts';

export { type CaseFile, readCaseFile } from './case-file.ts';
export type { Pace } from './scene.ts';

/** Files that run at the same time: they don't know of each other, and a server has more than one client too. */
const AT_ONCE = 6;

export interface Result {
  readonly passed: number;
  /** Each with its reason. */
  readonly failed: readonly Outcome[];
  readonly knownToFail: number;
}

/** @param area the beginning of a file's name below the folder of cases, such as `rules` or `rules/when-where`; all when empty */
export function readCases(folder: string, area = ''): CaseFile[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.split(sep).join('/').slice(0, -'.yaml'.length));
  const wanted = names.filter((name) => name === area || name.startsWith(area === '' ? '' : `${area.replace(/\/$/, '')}/`)).sort();
  return wanted.map((name) => readCaseFile(name, readFileSync(join(folder, `${name}.yaml`), 'utf8')));
}

/**
 * @param say told one line a file as it ends
 * @param pace how time passes for the server; where it is not everybody's, one file runs after the other
 */
export async function runSuite(
  client: RestClient,
  files: readonly CaseFile[],
  known: ReadonlyMap<string, string>,
  say: (line: string) => void,
  pace: Pace = realTime,
): Promise<Result> {
  const all: { passed: number; failed: Outcome[]; knownToFail: number } = { passed: 0, failed: [], knownToFail: 0 };
  const running = [...startSuite(client, files, known, pace)].map(async ([{ name: file }, result]) => {
    const { passed, failed, knownToFail, ms } = await result;
    say(`${failed.length === 0 ? '✓' : '✗'} ${file} (${passed + failed.length + knownToFail} cases, ${Math.round(ms)} ms)`);
    for (const { name, failure } of failed) say(`    ${name.slice(file.length + 2)}\n      ${failure}`);
    all.passed += passed;
    all.failed.push(...failed);
    all.knownToFail += knownToFail;
  });
  await Promise.all(running);
  return all;
}

/** Begins to run all files, some at once, in their order; each has a result of its own. */
export function startSuite(
  client: RestClient,
  files: readonly CaseFile[],
  known: ReadonlyMap<string, string>,
  pace: Pace = realTime,
): ReadonlyMap<CaseFile, Promise<Result & { readonly ms: number }>> {
  const run = Date.now().toString(36);
  const waiting: (() => void)[] = [];
  let free = pace === realTime ? AT_ONCE : 1;
  const one = async (file: CaseFile, index: number): Promise<Result & { ms: number }> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      const begun = performance.now();
      const outcomes = await runFile(client, file, `x${run}n${index}`, pace);
      return { ...judge(outcomes, known), ms: performance.now() - begun };
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
  return new Map(files.map((file, index) => [file, one(file, index)]));
}

/** A case that is known to fail is no failure; one that passes all the same is one, so that it leaves the list. */
function judge(outcomes: readonly Outcome[], known: ReadonlyMap<string, string>): Result {
  const judged = outcomes.map(({ name, failure }) => {
    if (!known.has(name)) return { name, failure };
    return { name, failure: failure === undefined ? 'it passes: take it off the list of known failures' : undefined };
  });
  const failed = judged.filter(({ failure }) => failure !== undefined);
  const knownToFail = judged.filter(({ name, failure }) => known.has(name) && failure === undefined).length;
  return { passed: judged.length - failed.length - knownToFail, failed, knownToFail };
}
