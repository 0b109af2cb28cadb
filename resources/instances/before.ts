// BEFORE rules (language.md 6.2): they run inside the operation, each on the result of the rule before, and may change the instance or
// cancel the operation.

import { CascadeError, langError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, isObject, type ObjectValue, typeOf, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { CascadeErrors } from '../../model/errors/index.ts';
import { choose, runDirect } from '../../runtime/runs/index.ts';
import type { Executable } from '../../runtime/programs/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Chosen } from '../../runtime/triggers/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { returned, shownOne, storedMembers } from '../scalars/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { keepStoredForm, programIn, referenceOf } from '../../runtime/events/index.ts';

/** Whether rules may run, and have effects, before an instance is stored. */
export const hasRulesBefore = (space: Namespace, type: TypeDefinition, operation: 'insert' | 'update' | 'delete'): boolean =>
  !type.rulesSuppressed && space.events.before.has(`/types/${type.name}/${operation}`);

/** The instance after the rules; null when one of them cancels the operation. */
export function runBefore(
  space: Namespace,
  type: TypeDefinition,
  operation: 'insert' | 'update' | 'delete',
  instance: ObjectValue,
  actor: Actor,
): MaybePromise<ObjectValue | null> {
  const path = `/types/${type.name}/${operation}`;
  return space.events.before.has(path) ? runThem(space, type, path, instance, actor) : instance;
}

async function runThem(
  space: Namespace,
  type: TypeDefinition,
  path: string,
  instance: ObjectValue,
  actor: Actor,
): Promise<ObjectValue | null> {
  await actor.readSet?.standing(); // the rules' own changes are not stored with this one
  const shown = await shownOne(space, type, instance, actor);
  const members = storedMembers(type, instance);
  if (members) keepStoredForm(shown, members);
  const stored = (result: ObjectValue): Promise<ObjectValue> => returned(space, type, { stored: instance, shown }, result, actor);
  const result = await chain(space, path, shown, actor, members ? (left) => keepForm(type, left, stored) : null);
  return result === null || result === shown ? result && instance : stored(result);
}

/** What cannot be stored is refused when all rules have run: one after this may put it right. */
async function keepForm(type: TypeDefinition, left: ObjectValue, stored: (left: ObjectValue) => Promise<ObjectValue>): Promise<void> {
  try {
    keepStoredForm(left, storedMembers(type, await stored(left)) ?? {});
  } catch (error) {
    if (!(error instanceof CascadeError || error instanceof CascadeErrors)) throw error;
  }
}

/**
 * Runs the rules one after the other on the instance as programs see it.
 * @param keepForm keeps the stored form of what a rule leaves, by which the rights of the next ones' editors are decided; null: it is the same
 */
async function chain(
  space: Namespace,
  path: string,
  instance: ObjectValue,
  actor: Actor,
  keepForm: ((left: ObjectValue) => Promise<void>) | null,
): Promise<ObjectValue | null> {
  const group = actor.childRunIds && actor.childRunIds.group(); // rules that ran before may be gone when this is repeated
  let current = instance;
  let last: string | null = null; // without its version: one version runs for a change, whatever it makes of the others' WHERE
  for (;;) {
    // The index is asked anew each time: a rule's WHERE sees the changes of the rules before it.
    const [next] = space.events.before
      .match(path, current, () => current, actor.identity.username)
      .filter(({ rule }) => last === null || compareNames(rule.baseName, last) > 0)
      .sort((a, b) => compareNames(a.rule.baseName, b.rule.baseName));
    if (!next) return current;
    last = next.rule.baseName;
    const by = group ? { ...actor, childRunIds: group.of(last) } : actor;
    const executable = next.asks ? await decided(space, next, path, current, by) : programIn(next.rule).executable;
    if (!executable) continue;
    const result = await runOne(space, executable, current, by);
    if (result === null) return null;
    if (result !== current) await keepForm?.(result);
    current = result;
  }
}

/** The program of a rule, or of its versions, that runs on the instance; null: none. */
export async function decided(
  space: Namespace,
  chosen: Chosen,
  path: string,
  taken: Value,
  actor: Actor,
  binds: 'event' | 'value' = 'value',
): Promise<Executable | null> {
  const given = { args: [encodeInner(taken)], events: binds === 'event' ? [0] : [] };
  const one = await choose(space.execution.runs, referenceOf(chosen, path), given, actor);
  return one && space.execution.runs.executable(one.rule, one.program);
}

async function runOne(space: Namespace, executable: Executable, instance: ObjectValue, actor: Actor): Promise<ObjectValue | null> {
  let json: string;
  try {
    json = await runDirect(space.execution.runs, {
      executable,
      body: { program: executable.program },
      argsJson: `[${encodeInner(instance)}]`,
      identity: executable.identity,
      caller: actor,
      snapshot: 'outermost',
    });
  } catch (error) {
    // O5: the operation answers 400 with the rule's own message; only limits and internal errors keep their status.
    if (error instanceof CascadeError && error.status < 429) throw new CascadeError(error.code, error.message, error.params, 400);
    throw error;
  }
  const result = decodeInner(json);
  if (result === null || isObject(result)) return result;
  throw langError('cascade.rule.before.result', executable.name, typeOf(result));
}

const compareNames = (a: string, b: string): number => {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : a < b ? -1 : a > b ? 1 : 0;
};
