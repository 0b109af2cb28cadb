// Rows of tables, many at once: a registration and a call for each would be most of the suite's time. Expressions that have a value are computed
// in one procedure; only what passes so counts, and the others are tried again as what they are. All other rows are procedures of their own,
// registered by one request. An expression is called beside others, a body alone, as it may change what the next one reads.
import { type Json, type JsonObject, parseJson, type Reply, toJsonText } from '../client/index.ts';
import type { Case } from './case-file.ts';
import { mismatch } from './match.ts';
import { Failure, type Scene } from './scene.ts';
import { checkComputed, computedName, send } from './steps.ts';

type Place = Pick<Scene, 'client' | 'names'>;

const AT_ONCE = 40;
/** What uses up a limit holds up or ends those beside it. */
const OF_LIMITS = 'cascade.execution.';

/** Those of the rows that pass, each with its own value. */
export async function passingTogether(scene: Place, all: readonly Case[]): Promise<ReadonlySet<Case>> {
  const rows = all.filter(({ expression, steps }) => isOneLine(expression) && steps[0]?.body.value !== undefined);
  const passed = new Set<Case>();
  for (const some of pieces(rows)) {
    const values = await valuesOf(scene, some);
    if (values?.length !== some.length) continue;
    some.forEach((one, n) => {
      if (mismatch(one.steps[0]!.body.value!, values[n], true) === undefined) passed.add(one);
    });
  }
  return passed;
}

/**
 * The outcome of each row: why it failed, undefined when it passed. Those that the server cannot take in a batch are not in it.
 * @param scene without anything kept, as a row has nothing before it
 */
export async function rowsTogether(scene: Scene, rows: readonly Case[]): Promise<ReadonlyMap<Case, string | undefined>> {
  const outcomes = new Map<Case, string | undefined>();
  const able = rows.filter(({ steps }) => !String(steps[0]!.body.error ?? '').startsWith(OF_LIMITS));
  for (const isBody of [false, true])
    for (const some of pieces(able.filter(({ expression }) => (expression === undefined) === isBody))) {
      const replies = await repliesOf(scene, some, isBody);
      if (!replies) return outcomes;
      some.forEach((one, n) => outcomes.set(one, failureOf(scene, one, replies[n]!)));
    }
  return outcomes;
}

function failureOf(scene: Scene, { steps: [step] }: Case, reply: Reply): string | undefined {
  try {
    checkComputed(scene, step!, reply);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return `line ${step!.line}: ${error.message}`;
    throw error;
  }
}

/** Of each row the answer of its call, or of its registration where that was refused; null without batches. */
async function repliesOf(scene: Place, rows: readonly Case[], isBody: boolean): Promise<Reply[] | null> {
  const nameOf = (n: number): string => `${computedName(scene.names)}_${n}`;
  const registered = await batch(
    scene,
    rows.map(({ steps: [step] }, n) => ({
      method: 'POST',
      uri: '/procedures',
      headers: { 'content-type': 'text/plain' },
      body: scene.names.toServer(`PROCEDURE ${nameOf(n)}()\n${String(step!.body.body)}`), // as text: in JSON a name may follow the n of \n
    })),
  );
  if (!registered) return null;
  const replies = [...registered];
  const able = registered.flatMap(({ status }, n) => (status === 200 ? [n] : []));
  const uri = (n: number): string => `/procedures/${nameOf(n)}`;
  if (isBody) for (const n of able) replies[n] = await send(scene, 'POST', uri(n));
  else {
    const called =
      (await batch(
        scene,
        able.map((n) => ({ method: 'POST', uri: uri(n) })),
      )) ?? [];
    able.forEach((n, i) => (replies[n] = called[i] ?? replies[n]!));
  }
  await batch(
    scene,
    able.map((n) => ({ method: 'DELETE', uri: uri(n) })),
  );
  return replies;
}

/** The answers to requests that the server is sent as one; null when it does not take them. */
async function batch(scene: Place, requests: JsonObject[]): Promise<Reply[] | null> {
  if (requests.length === 0) return [];
  const { status, text } = await send(scene, 'POST', '/api/v1/batch', { body: requests });
  const answers = status === 200 ? parseJson(text) : null;
  if (!Array.isArray(answers)) return null;
  return (answers as JsonObject[]).map(({ status, headers, body }) => {
    const text = body === undefined ? '' : toJsonText(body);
    return { status: Number(toJsonText(status!)), headers: headers as Record<string, string>, text, json: () => parseJson(text) };
  });
}

function* pieces<T>(all: readonly T[]): Generator<T[]> {
  for (let i = 0; i < all.length; i += AT_ONCE) yield all.slice(i, i + AT_ONCE);
}

/** Within brackets line ends mean nothing (language.md L17): rows that have some are not the same there. */
const isOneLine = (expression: string | undefined): boolean => expression !== undefined && !expression.includes('\n');

/** Null when one of them does not compile or ends in an error. */
async function valuesOf(scene: Place, rows: readonly Case[]): Promise<Json[] | null> {
  const name = computedName(scene.names);
  const text = `PROCEDURE ${name}()\nreturn [\n${rows.map(({ expression }) => `(${expression})`).join(',\n')}\n]`;
  if ((await send(scene, 'POST', '/procedures', { text })).status !== 200) return null;
  const reply = await send(scene, 'POST', `/procedures/${name}`);
  const values = reply.status === 200 ? parseJson(reply.text) : null;
  return Array.isArray(values) ? values : null;
}
