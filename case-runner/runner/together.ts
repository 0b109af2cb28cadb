// Rows of expressions that have a value, many in one procedure: a registration and a call for each would be most of the suite's time. Only what
// passes so counts; all others are run each by itself, which then tells what is wrong.
import { type Json, parseJson } from '../client/index.ts';
import type { Case } from './case-file.ts';
import { mismatch } from './match.ts';
import type { Scene } from './scene.ts';
import { computedName, send } from './steps.ts';

const AT_ONCE = 40;

/** Those of the cases that pass, each with its own value. */
export async function passingTogether(scene: Pick<Scene, 'client' | 'names'>, cases: readonly Case[]): Promise<ReadonlySet<Case>> {
  const rows = cases.filter(({ expression, steps }) => isOneLine(expression) && steps[0]?.body.value !== undefined);
  const passed = new Set<Case>();
  for (let i = 0; i < rows.length; i += AT_ONCE) {
    const some = rows.slice(i, i + AT_ONCE);
    const values = await valuesOf(scene, some);
    if (values?.length !== some.length) continue;
    some.forEach((one, n) => {
      if (mismatch(one.steps[0]!.body.value!, values[n], true) === undefined) passed.add(one);
    });
  }
  return passed;
}

/** Within brackets line ends mean nothing (language.md L17): rows that have some are not the same there. */
const isOneLine = (expression: string | undefined): boolean => expression !== undefined && !expression.includes('\n');

/** Null when one of them does not compile or ends in an error. */
async function valuesOf(scene: Pick<Scene, 'client' | 'names'>, rows: readonly Case[]): Promise<Json[] | null> {
  const name = computedName(scene.names);
  const text = `PROCEDURE ${name}()\nreturn [\n${rows.map(({ expression }) => `(${expression})`).join(',\n')}\n]`;
  if ((await send(scene, 'POST', '/procedures', { text })).status !== 200) return null;
  const reply = await send(scene, 'POST', `/procedures/${name}`);
  const values = reply.status === 200 ? parseJson(reply.text) : null;
  return Array.isArray(values) ? values : null;
}
