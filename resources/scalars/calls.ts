// Calls of a scalar's procedures. Concurrent calls of one caller share a run in the sandbox.

import { CascadeError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
import { CascadeErrors, apiError, statusOf } from '../../model/errors/index.ts';
import { type DirectCall, type RunHost, runDirect } from '../../runtime/runs/index.ts';
import type { ScalarAction, ScalarDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';
import { type Form, programFor } from './programs.ts';

/** CPU time limit for one value (resources-and-api.md 4.2). A batch that exceeds it is halved until the value is found. */
const CPU_MS = 1_000;
/** CPU time limit for a sort, which cannot be halved. */
const ORDER_CPU_MS = 5_000;
/**
 * Bound of the time in which a batch is converted, or its values are refused: a procedure that waits uses no CPU time. Runs have a bound of their
 * own, and their statements wait until the store is back.
 */
const BATCH_MS = 30_000;
/** Timers count from the beginning of a turn of the event loop: by the clock they may end this much before their time. */
const EARLY_MS = 1_000;
const BATCH = 1_000;

/** `isLate`: the time was over, which need not be for the value. */
export type Outcome = { readonly value: Value } | { readonly error: CascadeError; readonly isLate?: boolean };

interface Asked {
  readonly value: Value;
  readonly resolve: (outcome: Outcome) => void;
  /** For what is no refusal of the value. */
  readonly reject: (error: unknown) => void;
}
interface Batch {
  readonly form: Form;
  readonly scalar: ScalarDefinition;
  readonly action: ScalarAction;
  readonly actor: Actor;
  readonly asked: Asked[];
}

/** Batches of calls that have not been sent yet; they are sent in each turn of the event loop. */
const GATHERING = new StateKey<Map<string, Batch>>('calls of scalars', () => new Map());

/** Converts each of the values, in order. */
export function convertEach(
  space: Namespace,
  scalar: ScalarDefinition,
  action: ScalarAction,
  values: readonly Value[],
  actor: Actor,
): Promise<Outcome[]> {
  return Promise.all(values.map((value) => ask(space, 'each', scalar, action, value, actor)));
}

/** The comparator's number for each pair. @throws CascadeError of the first pair that has none */
export async function comparePairs(
  space: Namespace,
  scalar: ScalarDefinition,
  pairs: readonly (readonly [Value, Value])[],
  actor: Actor,
): Promise<number[]> {
  const outcomes = await Promise.all(pairs.map((pair) => ask(space, 'pairs', scalar, 'comparator', [...pair], actor)));
  return outcomes.map((outcome) => {
    if ('error' in outcome) throw outcome.error;
    return Number(outcome.value);
  });
}

/** The values in the comparator's order, each with its rank; equal ones share a rank. */
export async function sortBy(
  space: Namespace,
  scalar: ScalarDefinition,
  values: readonly Value[],
  actor: Actor,
): Promise<[value: Value, rank: number][]> {
  const limits = { cpuTimeMs: ORDER_CPU_MS, ...(!isOfRun(actor) && { deadlineMs: BATCH_MS }) };
  const result = await run(space, { form: 'sorted', scalar, action: 'comparator', actor }, values, limits);
  return (result as [Value, Value][]).map(([value, rank]) => [value, Number(rank)]);
}

function ask(space: Namespace, form: Form, scalar: ScalarDefinition, action: ScalarAction, value: Value, actor: Actor): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const batches = space.states.get(GATHERING);
    if (batches.size === 0) setImmediate(() => flush(space));
    const key = JSON.stringify([
      form,
      scalar.name,
      action,
      procedureOf(scalar, action),
      rightsOf(actor.identity),
      actor.depth,
      isOfRun(actor),
    ]);
    const batch = batches.get(key) ?? { form, scalar, action, actor: shared(actor), asked: [] };
    batches.set(key, batch);
    batch.asked.push({ value, resolve, reject });
  });
}

/** What it reads is asked for again while the store is away. */
const isOfRun = (actor: Actor): boolean => actor.event !== undefined;

/** For callers whose values share a run: it does not end with the first of them. */
const shared = ({ signal: _, ...actor }: Actor): Actor => actor;

const RIGHTS = new WeakMap<Identity, string>();

/** Tells identities apart whose programs may see different things. */
function rightsOf(identity: Identity): string {
  const known = RIGHTS.get(identity) ?? JSON.stringify(identity, Object.keys(identity).sort());
  RIGHTS.set(identity, known);
  return known;
}

function flush(space: Namespace): void {
  const batches = space.states.get(GATHERING);
  const asked = [...batches.values()];
  batches.clear();
  for (const batch of asked) void answerInTurn(space, batch);
}

async function answerInTurn(space: Namespace, batch: Batch): Promise<void> {
  for (let at = 0; at < batch.asked.length; at += BATCH) {
    const untilMs = isOfRun(batch.actor) ? null : performance.now() + BATCH_MS;
    await answer(space, batch, batch.asked.slice(at, at + BATCH), untilMs);
  }
}

/**
 * Answers the callers of a batch. Never rejects: each of them gets a value or an error.
 * @param untilMs by `performance.now()`: who has no value then is refused; null: never
 */
async function answer(space: Namespace, batch: Batch, asked: readonly Asked[], untilMs: number | null): Promise<void> {
  // Equal values are converted once.
  const distinct = new Map<string, Asked[]>();
  for (const one of asked) {
    const key = encodeInner(one.value);
    const group = distinct.get(key);
    if (group) group.push(one);
    else distinct.set(key, [one]);
  }
  const groups = [...distinct.values()];
  try {
    const results = await run(
      space,
      batch,
      groups.map(([one]) => (one as Asked).value),
      { cpuTimeMs: CPU_MS, ...(untilMs !== null && { deadlineMs: Math.max(0, untilMs - performance.now()) }) },
    );
    const outcomes = new Map<Asked, Outcome>();
    groups.forEach((group, index) => {
      const outcome = outcomeOf((results as Value[])[index] as Value);
      for (const one of group) outcomes.set(one, outcome);
    });
    // Callers are answered in the order of their calls: instances of one request are stored in their order.
    for (const one of asked) one.resolve(outcomes.get(one) as Outcome);
  } catch (error) {
    const isLimit = error instanceof CascadeError && error.code.startsWith('cascade.execution.');
    const isLate = isLimit && untilMs !== null && performance.now() >= untilMs - EARLY_MS;
    if (isLimit && groups.length > 1 && !isLate) {
      const middle = groups.length >> 1;
      await Promise.all([groups.slice(0, middle), groups.slice(middle)].map((half) => answer(space, batch, half.flat(), untilMs)));
      return;
    }
    const refusal = refusalOf(batch, error);
    for (const { resolve, reject } of asked) {
      if (refusal) resolve({ error: refusal, isLate });
      else reject(error);
    }
  }
}

type Call = Pick<Batch, 'form' | 'scalar' | 'action' | 'actor'>;

async function run(
  space: Namespace,
  { form, scalar, action, actor }: Call,
  values: readonly Value[],
  limits: Pick<DirectCall, 'cpuTimeMs' | 'deadlineMs'>,
): Promise<Value> {
  const procedure = procedureOf(scalar, action);
  if (!space.catalog.definitions.get('procedures', procedure)) throw apiError('cascade.scalar.procedure.missing', scalar.name, action);
  const json = await runDirect(readingOnly(space.execution.runs, scalar, action), {
    executable: { resource: `/procedures/${procedure}`, name: procedure, service: null },
    body: { program: programFor(form, procedure) },
    argsJson: encodeInner([[...values]]),
    identity: actor.identity,
    caller: { ...actor, childRunIds: null },
    ...limits,
    snapshot: 'never',
  });
  return decodeInner(json);
}

const READS: ReadonlySet<string> = new Set(['select', 'open', 'next', 'close', 'builtin', 'describe']);

/** Built-ins that wait for other runs, or answer them. */
const EVENTS: ReadonlySet<string> = new Set(['Event.request', 'Event.reply']);

/** A host that allows only reads: a conversion may look things up, and as it may be repeated, it changes nothing. */
function readingOnly(host: RunHost, scalar: ScalarDefinition, action: ScalarAction): RunHost {
  return {
    ...host,
    perform(kind, payloadJson, actor) {
      const refused = READS.has(kind) ? (kind === 'builtin' ? noRead(payloadJson) : null) : kind;
      if (refused !== null) return Promise.reject(apiError('cascade.scalar.procedure.signature', scalar.name, `${action} (${refused})`));
      return host.perform(
        kind,
        payloadJson,
        committing(actor, () => Promise.reject(changes(scalar, action))),
      );
    },
  };
}

/** A built-in that is more than a read; null: it is none, or what it changes is refused as it is stored. */
function noRead(payloadJson: string): string | null {
  if (!payloadJson.includes('Event.') && !payloadJson.includes('ResourceAPI.')) return null; // it may be long
  const { name, args } = decodeInner(payloadJson) as { name: string; args: Value[] };
  if (EVENTS.has(name)) return name;
  const [message] = args;
  const op = name.startsWith('ResourceAPI.') && isObject(message) && Object.hasOwn(message, 'op') ? getOwn(message, 'op') : null;
  return op === 'execute' ? 'execute' : null; // a run stores what it changes itself
}

const changes = (scalar: ScalarDefinition, action: ScalarAction) =>
  apiError('cascade.scalar.procedure.signature', scalar.name, `${action} (a change)`);

const procedureOf = (scalar: ScalarDefinition, action: ScalarAction): string => scalar[action] as string;

/** The outcome of one value. An exception keeps its code, message and params; its status is 400 unless its code has one of its own. */
function outcomeOf(result: Value): Outcome {
  if (isObject(result) && Object.hasOwn(result, 'value')) return { value: getOwn(result, 'value') };
  const error = isObject(result) ? getOwn(result, 'error') : null;
  const { code, message, params }: ObjectValue = isObject(error) ? error : {};
  const text = typeof code === 'string' ? code : 'cascade.server.error';
  return { error: new CascadeError(text, String(message ?? ''), Array.isArray(params) ? params : [], statusOf(text)) };
}

/** The error of a run that failed as a whole: an exceeded limit is the procedure's error, any other one is unchanged; null: no refusal. */
function refusalOf({ scalar, action }: Call, error: unknown): CascadeError | null {
  if (error instanceof CascadeErrors) return error.errors[0] as CascadeError;
  if (!(error instanceof CascadeError)) return null;
  return error.code.startsWith('cascade.execution.') ? apiError('cascade.scalar.procedure.signature', scalar.name, action) : error;
}
