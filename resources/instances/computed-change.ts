// Updates whose values a program has computed from the row that it read (compiler/2-check/computed-changes.ts). Where the row has changed
// since, the values are computed anew from its newest version, as the program would have done in its turn: runs that count on one instance
// do not wait for each other's programs (language.md U7).

import { compileExpression } from '../../runtime/triggers/index.ts';
import { type Actor, RestartRun, type TurnToChange } from '../../runtime/context/index.ts';
import type { ExpressionData } from '../../compiler/types.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { matches } from '../../model/query/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { versionOf } from '../representation/index.ts';
import { readAt } from './find.ts';
import { pendingInstance } from './pending-instances.ts';
import { type Change, changeOf, updateOne } from './update.ts';

/** How values follow from the row `row` and from what the program gives. */
export interface Computed {
  readonly set: readonly (readonly [property: string, value: ExpressionData])[];
  readonly given: ObjectValue;
}

/** Bound of the parts of all expressions of one update: a program that the compiler made has no more than its text. */
const MOST_PARTS = 1_000;
const DEEPEST = 50;
const BINARY: ReadonlySet<unknown> = new Set(['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=']);
const UNARY: ReadonlySet<unknown> = new Set(['+', '-', '!']);
const ROOTS: ReadonlySet<unknown> = new Set(['row', 'given']);

/** The member `computed` of an update's payload; null where there is none, or not in the form that the compiler gives it. */
export function computedIn(payload: ObjectValue): Computed | null {
  const computed = Object.hasOwn(payload, 'computed') ? getOwn(payload, 'computed') : null;
  if (!isObject(computed)) return null;
  const [set, given] = [getOwn(computed, 'set'), getOwn(computed, 'given')];
  const parts = { left: MOST_PARTS };
  const isSet = (one: Value): boolean => Array.isArray(one) && typeof one[0] === 'string' && isExpression(one[1] ?? null, parts, 0);
  if (!Array.isArray(set) || !isObject(given) || !set.every(isSet)) return null;
  return { set: set as unknown as Computed['set'], given };
}

function isExpression(data: Value, parts: { left: number }, depth: number): boolean {
  if (!isObject(data) || depth > DEEPEST || --parts.left < 0) return false;
  const [kind, operator] = [getOwn(data, 'k'), getOwn(data, 'op')];
  const are = (...names: string[]): boolean => names.every((name) => isExpression(getOwn(data, name), parts, depth + 1));
  if (kind === 'path') return ROOTS.has(getOwn(data, 'root')) && isSteps(getOwn(data, 'p'));
  if (kind === 'unary') return UNARY.has(operator) && are('a');
  if (kind === 'binary') return BINARY.has(operator) && are('a', 'b');
  if (kind === 'logical') return (operator === '&&' || operator === '||') && are('a', 'b');
  return kind === 'ternary' && are('c', 'a', 'b');
}

const isSteps = (steps: Value): boolean => Array.isArray(steps) && steps.length === 1 && typeof steps[0] === 'string';

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
    current = changeOf(resource, { ...values, ...valuesOf(computed, stored, key) });
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
  return hasWaited ? readAt(space, resource, id, actor) : row;
}

function valuesOf({ set, given }: Computed, row: ObjectValue, key: string): ObjectValue {
  const context = { payload: (root: string): Value => (root === 'row' ? row : given), event: (): ObjectValue => ({}) };
  const values: ObjectValue = {};
  try {
    for (const [property, data] of set) setOwn(values, property, compileExpression(data, () => 'value', NOTHING)(context));
  } catch (error) {
    if (error instanceof CascadeError) throw new RestartRun(key);
    throw error;
  }
  return values;
}

/** The expressions have neither calls nor conditions on types. */
const NOTHING = { typeOf: () => null, builtin: () => undefined, namespace: '' };
