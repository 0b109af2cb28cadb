// Examples for the reference page: expressions of the conformance cases, so that each is one that the tests hold.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Example } from './reference-pages.ts';

/** Longer ones make no line of a table. */
const LONGEST = 60;

/** In the order of the files; those that show an error are left out. @param root the project's folder */
export function readExamples(root: string): readonly Example[] {
  return ['builtins', 'services'].flatMap((area) => {
    const folder = join(root, 'conformance/cases', area);
    return readdirSync(folder)
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .flatMap((file) => {
        const { expressions = [] } = parse(readFileSync(join(folder, file), 'utf8'), { logLevel: 'silent' }) as {
          expressions?: [string, unknown][];
        };
        return expressions.flatMap(([expression, value]): Example[] => {
          const result = JSON.stringify(value);
          const isError = typeof value === 'object' && value !== null && 'error' in value;
          return isError || expression.length + result.length > LONGEST || expression.includes('\n') ? [] : [{ expression, result }];
        });
      });
  });
}
