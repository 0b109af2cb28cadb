// Calls of procedures that programs ask the host for: later ones, those with rights of their own, and EXECUTE *.

import { langError } from '../../stdlib/errors.ts';
import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, startingAs } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { asyncCall } from '../../runtime/events/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { actingIn, calledAs, requireUse } from '../access/index.ts';
import { type Namespace, type Resource, resolve } from '../catalog/index.ts';
import { matchingStored } from '../definitions/index.ts';
import { refused, text } from './payload.ts';

export async function execute(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const names = getOwn(payload, 'names') as string[];
  if (getOwn(payload, 'builtin') === true) return executeBuiltin(space, names[0] ?? '', payload, actor);
  const name = names.find((one) => space.catalog.definitions.get('procedures', one) !== undefined);
  if (name === undefined) throw langError('cascade.lang.procedure.unknown', names[0] ?? '');
  if (getOwn(payload, 'async') !== true) throw refused('EXECUTE without ASYNC');
  const identity = calledAs(space, name, actor.identity);
  const executed = Object.hasOwn(payload, 'partitionKey') ? [getOwn(payload, 'partitionKey')] : [];
  const by = { service: getOwn(payload, 'from'), executed };
  const event = asyncCall(name, getOwn(payload, 'args'), getOwn(payload, 'named'), { ...actor, identity }, by);
  await actor.commit({ writes: [], events: [event] }, { ok: 'null' });
  return { ok: 'null' };
}

/** A built-in runs as who calls it, as it does where it is called at once. */
async function executeBuiltin(space: Namespace, name: string, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const by = { service: getOwn(payload, 'from'), executed: [], builtin: true as const };
  const event = asyncCall(name, getOwn(payload, 'args'), getOwn(payload, 'named'), actor, by);
  await actor.commit({ writes: [], events: [event] }, { ok: 'null' });
  return { ok: 'null' };
}

/** A call inside a program of a procedure with a group or profiles: members only, and under those profiles (language.md P8). */
export async function call(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const name = text(payload, 'name');
  const procedure = space.catalog.definitions.get('procedures', name);
  if (!procedure) throw langError('cascade.lang.procedure.unknown', name);
  const identity = calledAs(space, name, actor.identity);
  const executed = getOwn(payload, 'executed') as Value[] | null;
  const ok = await runDirect(space.execution.runs, {
    executable: { resource: `/procedures/${name}`, name, service: getOwn(payload, 'service') as string | null },
    body: { program: null, procedure: name },
    argsJson: encodeInner(getOwn(payload, 'args')),
    ...(executed && { executed: JSON.parse(encodeInner(executed)) as unknown[] }),
    identity,
    caller: actor,
    snapshot: 'never',
  });
  return { ok };
}

/** EXECUTE * (language.md X3): calls all public procedures that satisfy the condition. */
export async function executeAll(space: Namespace, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const found = matchingStored(
    space,
    resolve(space, 'procedures', false) as Resource & { kind: 'definitions' },
    aliased(getOwn(payload, 'where')),
    actor,
  );
  const args = getOwn(payload, 'args');
  const named = getOwn(payload, 'named');
  for (const [name] of found) requireUse(space, 'procedures', name, 'execute', actor.identity);
  const called = found
    .filter(([, object]) => getOwn(object, 'visibility') === 'PUBLIC')
    .map(([name, object]) => ({ name, identity: actingIn(object, actor.identity) }));
  if (Object.hasOwn(payload, 'async')) {
    const events = called.map(({ name, identity }) => asyncCall(name, args, named, { ...actor, identity }));
    await actor.commit({ writes: [], events }, { ok: 'null' });
    return { ok: 'null' };
  }
  const runs = called.map(({ name, identity }) =>
    runDirect(space.execution.runs, {
      executable: { resource: `/procedures/${name}`, name, service: null },
      body: { program: null, procedure: name },
      argsJson: encodeInner(args ?? []),
      namedJson: named === null ? null : encodeInner(named),
      identity,
      caller: startingAs(actor, name),
      snapshot: 'never',
    }),
  );
  const settled = await Promise.allSettled(runs);
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return { ok: `[${settled.map((one) => (one.status === 'fulfilled' ? one.value : '')).join(',')}]` };
}

/** `properties.role` is another spelling of `ars_properties.role`. */
function aliased(where: Value): Value {
  if (Array.isArray(where)) return where.map(aliased);
  if (!isObject(where)) return where;
  const result: ObjectValue = {};
  for (const key of Object.keys(where)) setOwn(result, key.startsWith('properties.') ? `ars_${key}` : key, aliased(getOwn(where, key)));
  return result;
}
