// The node `self` (integrations.md 11.1): the statement runs here with the caller's rights, and its results have the form of a node's.
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { calledAs } from '../../resources/access/index.ts';
import { perform, own } from '../../resources/operations/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Asked, Carried } from './requests.ts';

export async function* onSelf(space: Namespace, { kind, statement, gathers, streams }: Asked, actor: Actor, from: number): Carried {
  if (from > 0) return;
  if (kind === 'execute') {
    yield [await executed(space, statement, actor)];
    return;
  }
  const noted = actor.checkpoints?.get(PART);
  if (noted !== undefined) {
    yield [decodeInner(noted)];
    return;
  }
  const within = asPart(actor);
  const asked = kind === 'select' && (streams || gathers) && own(statement, 'limit') === null ? { ...statement, limit: 10_000 } : statement;
  const answer = await perform(space, kind, encodeInner(asked), within);
  if ('error' in answer)
    throw new CascadeError(answer.error.code, answer.error.message, answer.error.params as Value[], answer.error.status);
  const value = decodeInner('list' in answer ? answer.list : answer.ok);
  if (kind !== 'select') yield [value];
  else if (gathers) yield [Array.isArray(value) ? value : [value]];
  else if (Array.isArray(value)) yield value;
  else if (value !== null || isObject(value)) yield [value];
}

/** The number of the write among the parts of its statement. */
const PART = 0;

/**
 * A write commits as a part of the statement, with what it gave: the statement's own result is recorded with its pages, and a repetition
 * after a crash in between must not write again.
 */
const asPart = ({ checkpoints: _, ...actor }: Actor): Actor =>
  committing(actor, (unit, answer) =>
    answer === undefined || 'error' in answer
      ? actor.commit(unit)
      : actor.commit(unit, undefined, { number: PART, note: 'ok' in answer ? answer.ok : answer.list }),
  );

async function executed(space: Namespace, statement: ObjectValue, actor: Actor): Promise<Value> {
  const name = String(getOwn(statement, 'name'));
  if (!space.catalog.definitions.get('procedures', name)) throw apiError('cascade.resource.not.found', `/procedures/${name}`);
  const [args, named] = [own(statement, 'args'), own(statement, 'named')];
  const value = await runDirect(space.execution.runs, {
    executable: { resource: `/procedures/${name}`, name, service: null },
    body: { program: null, procedure: name },
    argsJson: encodeInner(args ?? []),
    namedJson: named === null ? null : encodeInner(named),
    identity: calledAs(space, name, actor.identity),
    caller: actor,
    snapshot: 'never',
  });
  return decodeInner(value);
}
