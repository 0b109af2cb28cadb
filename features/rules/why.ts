// Explains why rules run or do not run for an event: for each rule on its path, the term that decided, and the values that it was decided
// by.

import { DateTime, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { holdsEvents, opening, rowOf, type StoredEvent, type StoredRow, withEventTexts } from '../../runtime/transactions/index.ts';
import { eventObject, keepStoredForm, storedFormOf, valueOf } from '../../runtime/events/index.ts';
import { apiError, CascadeError, CascadeErrors } from '../../model/errors/index.ts';
import type { Explanation } from '../../runtime/triggers/index.ts';
import { RULE_RIGHTS, withoutRights } from '../../resources/access/index.ts';
import { storedMembers, toStored } from '../../resources/scalars/index.ts';
import { editorOf } from '../../resources/representation/index.ts';
import { keptIn, DEAD_LETTERS } from '../delivery/index.ts';
import { findRecording } from '../diagnostics/index.ts';
import { findType, type Namespace } from '../../resources/catalog/index.ts';

/** The event to explain; `runs` are those that it was stored with, while any of them is open. */
type Asked = Pick<StoredEvent, 'uuid' | 'path' | 'at' | 'by' | 'runs'> & { readonly value: Value };

/**
 * The event to explain: a stored one by its uuid, or one given by path and value, as if the asker caused it.
 * @throws cascade.request.body.invalid, .resource.not.found
 */
async function asked(space: Namespace, data: Value, asker: string): Promise<Asked> {
  if (!isObject(data)) throw apiError('cascade.request.body.invalid', 'an object with event, or with path and value, is expected', 0);
  if (Object.hasOwn(data, 'event')) return stored(space, String(data['event']));
  const { path, value = null } = data;
  if (typeof path !== 'string') throw apiError('cascade.request.body.invalid', 'path is expected to be a String', 0);
  return { uuid: '', path, value, at: new Date(space.clock.now()), by: asker, runs: [] };
}

/** A longer text is no uuid of an event. */
const LONGEST_UUID = 200;

/** Reads an event: it is stored while its rules run, and with recordings and dead letters. */
async function stored(space: Namespace, uuid: string): Promise<Asked> {
  const row = uuid.length > LONGEST_UUID ? null : await space.storage.db.collection<StoredRow>('journal').findOne(holdsEvents([uuid]));
  const open = (row ? rowOf(row).events : []).find((event) => event.uuid === uuid && event.value !== null);
  const recording = open ? null : await findRecording(space, uuid);
  const dead = open || recording ? null : await space.storage.db.collection(DEAD_LETTERS.collection).findOne({ 'kept.uuid': uuid });
  const event =
    (open && withEventTexts(open, opening(space.storage.cipher))) ??
    (recording?.['event'] as StoredEvent | undefined) ??
    (dead ? keptIn(space, dead) : null);
  if (!event) throw apiError('cascade.resource.not.found', `/events/${uuid}`);
  const { path, by } = event;
  return { uuid: event.uuid, path, at: new Date(event.at), by, value: valueOf(event), runs: open ? open.runs : [] };
}

/** @param name the rule to explain; null: all rules on the path */
export async function why(space: Namespace, name: string | null, data: Value, asker: string): Promise<ObjectValue> {
  const event = await asked(space, data, asker);
  await keepForm(space, event);
  const { uuid, path, value, at } = event;
  const object = (): ObjectValue => eventObject({ uuid, path, atMs: at.getTime() }, value, space.name);
  const report = [
    ...space.events.before.explain(path, value, object).map((one) => refused(space, explained(one, 'BEFORE'), event)),
    ...space.events.when.explain(path, value, object).map((one) => refused(space, explained(one, 'WHEN'), event)),
    ...inactive(space, path),
  ];
  if (space.events.correlations.has(path)) report.push(...awaited(space, event, object));
  const rules = name === null ? report : report.filter(({ rule }) => rule === name);
  if (name !== null && rules.length === 0) {
    if (!space.catalog.definitions.get('rules', name)) throw apiError('cascade.resource.not.found', `/rules/${name}`);
    rules.push({ rule: name, outcome: 'otherPath' });
  }
  const overruled = overruling(space, event, uuid === '' ? new Map() : await givenUp(space, uuid));
  return { path, value, rules: rules.map((one) => ({ ...one, ...overruled(String(one['rule'])) })) };
}

/** What was given, or has been read again, is in the external form: rights are decided by what a body of this form is stored as. */
async function keepForm(space: Namespace, { path, value }: Asked): Promise<void> {
  const [, room, name = ''] = path.split('/');
  const type = room === 'types' && isObject(value) ? space.catalog.types.get(name) : undefined;
  if (!type || !isObject(value) || storedFormOf(value)) return;
  try {
    const members = storedMembers(type, (await toStored(space, type, value, withoutRights(space))) as ObjectValue);
    if (members) keepStoredForm(value, members);
  } catch (error) {
    if (!(error instanceof CascadeError || error instanceof CascadeErrors)) throw error; // no instance is like that, so nobody has a right to it
  }
}

/** Why the event was given up, by rule name. */
async function givenUp(space: Namespace, uuid: string): Promise<ReadonlyMap<string, string>> {
  const letters = await space.storage.db
    .collection(DEAD_LETTERS.collection)
    .find({ 'kept.uuid': uuid }, { projection: { target: 1, reason: 1 } })
    .toArray();
  return new Map(letters.map(({ target, reason }) => [String(target).replace(/^\/(rules|procedures)\//, ''), String(reason)]));
}

/** Decisions besides the rules' conditions: whether the event is raised, which rules it counts for, and their outcomes. */
function overruling(
  space: Namespace,
  { path, runs, at, uuid }: Asked,
  dead: ReadonlyMap<string, string>,
): (rule: string) => ObjectValue | undefined {
  const [, room, name = ''] = path.split('/');
  if (room === 'types' && findType(space, name.replace(/^system\./, ''))?.rulesSuppressed) return () => ({ outcome: 'suppressed' });
  const source = room === 'sources' && path === `/sources/${name}/publish` ? space.catalog.definitions.get('sources', name) : null;
  const pipeline = new Set(Array.isArray(source?.['pipelineRules']) ? source['pipelineRules'].map(String) : []);
  const lost = new Set(runs.filter(({ rule, program }) => !space.execution.runs.executable(rule, program)).map(({ rule }) => rule));
  return (rule): ObjectValue | undefined => {
    const reason = dead.get(rule);
    if (reason !== undefined) return { outcome: 'givenUp', reason };
    if (lost.has(rule)) return { outcome: 'lost' };
    if (pipeline.has(rule)) return { outcome: 'pipeline' };
    const definition = uuid === '' ? null : space.catalog.definitions.get('rules', rule);
    const changed = definition?.['ars_modifiedAt'] ?? definition?.['ars_createdAt'];
    return changed instanceof DateTime && changed.ms > at.getTime() ? { changed } : undefined;
  };
}

function explained({ rule, matched, asks, reason, term }: Explanation, kind: string): ObjectValue {
  return {
    rule: rule.name,
    kind,
    outcome: matched ? (asks ? 'asks' : 'runs') : (reason ?? 'condition'),
    ...(rule.version === null ? {} : { version: rule.version }),
    ...(term ? { term: { ...term } as unknown as ObjectValue } : {}),
  };
}

/** A rule that would run, but for the present rights of its editor. */
function refused(space: Namespace, report: ObjectValue, { path, value, by }: Asked): ObjectValue {
  const { kind, outcome, rule } = report;
  if (outcome !== 'runs' && outcome !== 'asks' && outcome !== 'waits') return report;
  const username = editorOf(space.catalog.definitions.get('rules', String(rule)));
  if (username === null) return report;
  const editor = { username, namespace: space.name, profiles: [] };
  const rights = space.states.get(RULE_RIGHTS);
  const may = kind === 'BEFORE' && isObject(value) ? rights.mayChange(editor, path, value, by) : rights.mayTake(editor, path, value, by);
  return may ? report : { ...report, outcome: 'noRight', editor: username };
}

/** Rules over several events: the events that they wait for, and whether a given event still counts. */
function awaited(space: Namespace, event: Asked, object: () => ObjectValue): ObjectValue[] {
  const { path, value, by, uuid } = event;
  const places = new Map(space.events.correlations.match(path, value, object, by).map((one) => [one.rule, [...(one.places ?? [])]]));
  return space.events.correlations.explain(path, value, object, uuid).map(({ open, ...one }): ObjectValue => {
    const report = refused(space, explained(one, 'WHEN'), event);
    if (report['outcome'] === 'noRight') return report;
    if (!one.matched) return report;
    const triggers = places.get(`~${one.rule.name}`) ?? [];
    if (uuid === '' || space.events.correlations.areAsleep) return { ...report, outcome: 'waits', triggers };
    const windows = open.map(({ deadlineMs, events }) => ({
      until: Number.isFinite(deadlineMs) ? new DateTime(deadlineMs) : null,
      events: events.map(({ uuid }) => uuid),
    }));
    return { ...report, outcome: windows.length > 0 ? 'waits' : 'closed', triggers, windows };
  });
}

function inactive(space: Namespace, path: string): ObjectValue[] {
  return space.catalog.definitions
    .list('rules')
    .filter(
      ([, rule]) =>
        rule['active'] === false && (rule['triggers'] as ObjectValue[] | undefined)?.some((trigger) => trigger['path'] === path),
    )
    .map(([name]) => ({ rule: name, outcome: 'inactive' }));
}
