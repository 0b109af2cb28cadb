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
const AT_ONCE = 4;

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
  const waiting = [...files];
  const outcomes: Outcome[] = [];
  const run = `${Date.now().toString(36)}`;
  let count = 0;
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const begun = performance.now();
      const ended = judge(await runFile(client, file, `x${run}n${count++}`, pace), known);
      const bad = ended.filter(({ failure }) => failure !== undefined);
      say(`${bad.length === 0 ? '✓' : '✗'} ${file.name} (${ended.length} cases, ${Math.round(performance.now() - begun)} ms)`);
      for (const { name, failure } of bad) say(`    ${name.slice(file.name.length + 2)}\n      ${failure}`);
      outcomes.push(...ended);
    }
  };
  await Promise.all(Array.from({ length: pace === realTime ? AT_ONCE : 1 }, worker));
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  const knownToFail = outcomes.filter(({ name }) => known.has(name)).length - failed.filter(({ name }) => known.has(name)).length;
  return { passed: outcomes.length - failed.length - knownToFail, failed, knownToFail };
}

/** A case that is known to fail is no failure; one that passes all the same is one, so that it leaves the list. */
function judge(outcomes: Outcome[], known: ReadonlyMap<string, string>): Outcome[] {
  return outcomes.map(({ name, failure }) => {
    if (!known.has(name)) return { name, failure };
    return { name, failure: failure === undefined ? 'it passes: take it off the list of known failures' : undefined };
  });
}
