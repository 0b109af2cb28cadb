// What the suite has beside the case runner: which failures are accepted for now, and which rows of the specification no case names.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export { type CaseFile, type Pace, readCaseFile, readCases, type Result, runSuite, startSuite } from '../../case-runner/runner/index.ts';
export { type Coverage, coverage, testReferences } from './coverage.ts';

/** Cases that fail and why that is accepted for now: a list of `{case, reason}`. */
export function readKnownFailures(file: string): Map<string, string> {
  const list = (parse(readFileSync(file, 'utf8')) ?? []) as { case: string; reason: string }[];
  return new Map(list.map(({ case: name, reason }) => [name, reason]));
}
