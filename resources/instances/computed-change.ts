// Updates whose values a program has computed from the row that it read (compiler/2-check/computed-changes.ts). Where the row has changed
// since, the values are computed anew from its newest version, as the program would have done in its turn: runs that count on one instance
// do not wait for each other's programs (language.md U7).

import { compileExpression } from '../../runtime/triggers/index.ts';
import { type Actor, RestartRun, type TurnToChange } from '../../runtime/context/index.ts';
import { COMPUTED_CALLS } from '../../compiler/index.ts';
import type { ExpressionData } from '../../compiler/types.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { matches } from '../../model/query/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { pureBuiltins } from '../host-context.ts';
import { versionOf } from '../representation/index.ts';
import { readById } from './find.ts';
import { pendingInstance } from './pending-instances.ts';
import { type Change, changeOf, updateOne } from './update.ts';

/** How values follow from the row `row` and from what the program gives. */
export interface Computed {
  readonly set: readonly (readonly [property: string, value: ExpressionData])[];
  readonly given: ObjectValue;
  /** Parts of properties of the row, as `stats.n`: the steps. */
  readonly parts: readonly (readonly string[])[];
}

/** Bound of the parts of all expressions of one update: a program that the compiler made has no more than its text. */
const MOST_PARTS = 1_000;
const DEEPEST = 50;
const BINARY: ReadonlySet<unknown> = new Set(['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=']);
const UNARY: ReadonlySet<unknown> = new Set(['+', '-', '!']);

/** The member `computed` of an update's payload; null where there is none, or not in the form that the compiler gives it. */
export function computedIn(payload: ObjectValue): Computed | null {
  const computed = Object.hasOwn(payload, 'computed') ? getOwn(payload, 'computed') : null;
  if (!isObject(computed)) return null;
  const [set, given] = [getOwn(computed, 'set'), getOwn(computed, 'given')];
  const found = { left: MOST_PARTS, parts: [] as string[][] };
  const isSet = (one: Value): boolean => isNamed(one, found, 0);
  if (!Array.isArray(set) || !isObject(given) || !set.every(isSet)) return null;
  return { set: set as unknown as Computed['set'], given, parts: found.parts };
}

interface Found {
  left: number;
  readonly parts: string[][];
}

function isExpression(data: Value, found: Found, depth: number): boolean {
  if (!isObject(data) || depth > DEEPEST || --found.left < 0) return false;
  const [kind, operator] = [getOwn(data, 'k'), getOwn(data, 'op')];
  const isOne = (one: Value): boolean => isExpression(one, found, depth + 1);
  const are = (...names: string[]): boolean => names.every((name) => isOne(getOwn(data, name)));
  const all = (name: string, test: (one: Value) => boolean): boolean => listIn(data, name)?.every(test) ?? false;
  if (kind === 'path') return isPath(getOwn(data, 'root'), getOwn(data, 'p'), found);
  if (kind === 'unary') return UNARY.has(operator) && are('a');
  if (kind === 'binary') return BINARY.has(operator) && are('a', 'b');
  if (kind === 'logical') return (operator === '&&' || operator === '||') && are('a', 'b');
  if (kind === 'ternary') return are('c', 'a', 'b');
  if (kind === 'array') return all('items', isOne);
  if (kind === 'object') return all('members', (member) => isNamed(member, found, depth + 1));
  return kind === 'call' && COMPUTED_CALLS.has(String(getOwn(data, 'name'))) && all('args', isOne);
}

/** `[name, expression]` */
const isNamed = (one: Value, found: Found, depth: number): boolean =>
  Array.isArray(one) && one.length === 2 && typeof one[0] === 'string' && isExpression(one[1] ?? null, found, depth);

function isPath(root: Value, steps: Value, found: Found): boolean {
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > DEEPEST || !steps.every((step) => typeof step === 'string'))
    return false;
  if (steps.length === 1) return root === 'row' || root === 'given';
  found.parts.push(steps);
  return root === 'row';
}

function listIn(data: ObjectValue, name: string): Value[] | null {
  const list = getOwn(data, name);
  return Array.isArray(list) ? list : null;
}

interface Given {
  /** The body as the program has computed it. */
  readonly values: ObjectValue;
  /** The change by that body. */
  readonly change: Change;
  readonly computed: Computed;
}

/**
 * Makes a computed change in the run's turn.
 * @returns the changed instance in its external form, null in it where a BEFORE rule cancelled the change; null: the row was not read for
 *   this, and the change is to be made as it is given
 * @throws RestartRun where the values cannot be computed here: the run does it itself, in its turn
 */
export async function updateComputed(
  space: Namespace,
  resource: InstanceResource,
  id: string,
  { values, change, computed }: Given,
  actor: Actor,
): Promise<{ readonly instance: ObjectValue | null } | null> {
  const { readSet } = actor;
  // Of other types programs see another form than the stored one.
  if (!readSet || resource.receive || !resource.type.isPlain) return null;
  const turn = await readSet.turnToChange(resource.collection, id);
  if (!turn) return null;
  const read = versionOf(turn.row);
  let current = change;
  const find = async (): Promise<ObjectValue> => {
    const stored = await newest(space, resource, id, turn, actor);
    if (versionOf(stored) === read) return stored;
    const key = `${resource.collection}/${id}`;
    if (!matches(turn.predicate, stored)) throw new RestartRun(key);
    current = changeOf(resource, { ...values, ...valuesOf(computed, stored, key, actor) });
    return stored;
  };
  return { instance: await updateOne(space, resource, find, (stored) => current(stored), actor, { isDecided: true }) };
}

async function newest(
  space: Namespace,
  resource: InstanceResource,
  id: string,
  { row, pending, hasWaited }: TurnToChange,
  actor: Actor,
): Promise<ObjectValue> {
  if (pending) {
    actor.readSet?.follow(pending);
    return pendingInstance(resource, pending).instance;
  }
  return hasWaited ? readById(space, resource, id, actor) : row;
}

function valuesOf({ set, given, parts }: Computed, row: ObjectValue, key: string, { clock }: Actor): ObjectValue {
  // A part of what is no Object is an error in a program, or something else than here.
  if (!parts.every((steps) => isThere(row, steps))) throw new RestartRun(key);
  const environment = { typeOf: () => null, builtin: pureBuiltins(clock), namespace: '' };
  const context = { payload: (root: string): Value => (root === 'row' ? row : given), event: (): ObjectValue => ({}) };
  const values: ObjectValue = {};
  try {
    for (const [property, data] of set) setOwn(values, property, compileExpression(data, () => 'value', environment)(context));
  } catch (error) {
    if (error instanceof CascadeError) throw new RestartRun(key);
    throw error;
  }
  return values;
}

/** Whether all that the steps go through are Objects, but for what has a length. */
function isThere(row: ObjectValue, steps: readonly string[]): boolean {
  let value: Value = row;
  for (const step of steps) {
    if (!isObject(value)) return (Array.isArray(value) || typeof value === 'string') && (step === 'length' || step === 'size');
    value = getOwn(value, step);
  }
  return true;
}
