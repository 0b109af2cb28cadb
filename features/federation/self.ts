// The node `self` (integrations.md 11.1): the statement runs here with the caller's rights, and its results have the form of a node's.
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { calledAs } from '../../resources/access/index.ts';
import { perform, own } from '../../resources/operations/index.ts';
import { keepOfRows } from '../../resources/representation/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { CURSORS } from '../../resources/instances/index.ts';
import { whole } from './options.ts';
import { type Asked, type Carried, namesOf, PAGE_ROWS } from './requests.ts';

export async function* onSelf(space: Namespace, asked: Asked, actor: Actor, from: number): Carried {
  const { kind, statement, gathers } = asked;
  if (isWalked(asked)) return yield* walked(space, asked, asPart(actor), from);
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
  const value = await performed(space, kind, statement, asPart(actor));
  if (kind !== 'select') yield [value];
  else if (gathers) yield [Array.isArray(value) ? value : [value]];
  else if (Array.isArray(value)) yield value;
  else if (value !== null || isObject(value)) yield [value];
}

async function performed(space: Namespace, kind: string, statement: ObjectValue, actor: Actor): Promise<Value> {
  const answer = await perform(space, kind, encodeInner(statement), actor);
  if ('error' in answer)
    throw new CascadeError(answer.error.code, answer.error.message, answer.error.params as Value[], answer.error.status);
  return decodeInner('list' in answer ? answer.list : answer.ok);
}

/** Whether all rows are wanted, as many as there are (integrations.md 11.5): they are read as a block without PROCESSED BY reads them. */
const isWalked = ({ kind, statement, gathers, streams }: Asked): boolean =>
  kind === 'select' &&
  (streams || gathers) &&
  own(statement, 'limit') === null &&
  !['one', 'exactlyOne'].includes(String(own(statement, 'cardinality')));

async function* walked(space: Namespace, { statement, gathers }: Asked, actor: Actor, from: number): Carried {
  if (gathers && from > 0) return; // all rows were its one page
  const cursors = space.states.get(CURSORS);
  const skip = (whole(statement, 'skip') ?? 0) + from * PAGE_ROWS;
  let page = (await performed(space, 'open', { ...statement, skip }, actor)) as ObjectValue;
  const cursor = String(getOwn(page, 'cursor'));
  using kept = keepOfRows(space.storage.rows);
  const rows: Value[] = [];
  try {
    for (;;) {
      for (const row of getOwn(page, 'rows') as Value[]) rows.push(row);
      if (getOwn(page, 'done') === true) break;
      // Pages of this many, as those of other nodes: after a crash the statement goes on behind those that were taken.
      while (!gathers && rows.length >= PAGE_ROWS) yield rows.splice(0, PAGE_ROWS);
      const text = await cursors.next(cursor);
      if (gathers) kept.add(text.length);
      page = decodeInner(text) as ObjectValue;
    }
    if (gathers) yield [rows];
    else while (rows.length > 0) yield rows.splice(0, PAGE_ROWS);
  } finally {
    await cursors.close(cursor);
  }
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
  const names = namesOf(statement);
  const name = names.find((one) => space.catalog.definitions.get('procedures', one) !== undefined);
  if (name === undefined) throw apiError('cascade.resource.not.found', `/procedures/${names[0] ?? ''}`);
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
