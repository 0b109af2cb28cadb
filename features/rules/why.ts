// Why rules do or do not run for an event: each rule on its path, and the term that decided, with the values it was decided on.

import { DateTime, decodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { holdsEvents, opening, rowOf, type StoredEvent, type StoredRow, withEventTexts } from '../../runtime/transactions/index.ts';
import { eventObject } from '../../runtime/events/event-object.ts';
import { fault } from '../../model/errors/faults.ts';
import type { Explanation } from '../../runtime/triggers/index.ts';
import { keptIn } from '../delivery/dead-letters.ts';
import { DEAD_LETTERS } from '../delivery/delivery-types.ts';
import { findRecording } from '../diagnostics/recordings.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

/** The event to explain: one that is kept, by its uuid, or a path and a value. @throws cascade.request.body.invalid, .resource.not.found */
async function asked(space: Namespace, data: Value): Promise<Pick<StoredEvent, 'uuid' | 'path' | 'at'> & { value: Value }> {
  if (!isObject(data)) throw fault('cascade.request.body.invalid', 'an object with event, or with path and value, is expected', 0);
  if (Object.hasOwn(data, 'event')) return stored(space, String(data['event']));
  const { path, value = null } = data;
  if (typeof path !== 'string') throw fault('cascade.request.body.invalid', 'path is expected to be a String', 0);
  return { uuid: '', path, value, at: new Date(space.clock.now()) };
}

/** Characters; what is longer names no event. */
const LONGEST_UUID = 200;

/** Events are kept while their rules run, and with recordings and dead letters. */
async function stored(space: Namespace, uuid: string) {
  const row = uuid.length > LONGEST_UUID ? null : await space.db.collection<StoredRow>('journal').findOne(holdsEvents([uuid]));
  const open = (row ? rowOf(row).events : []).find((event) => event.uuid === uuid && event.value !== null);
  const recording = open ? null : await findRecording(space, uuid);
  const dead = open || recording ? null : await space.db.collection(DEAD_LETTERS.collection).findOne({ 'kept.uuid': uuid });
  const event =
    (open && withEventTexts(open, opening(space.cipher))) ??
    (recording?.['event'] as StoredEvent | undefined) ??
    (dead ? keptIn(space, dead) : null);
  if (!event) throw fault('cascade.resource.not.found', `/events/${uuid}`);
  return { uuid: event.uuid, path: event.path, at: new Date(event.at), value: decodeInner(event.value) };
}

/** @param name of the rule to explain; null: all that are on the path */
export async function why(space: Namespace, name: string | null, data: Value): Promise<ObjectValue> {
  const { uuid, path, value, at } = await asked(space, data);
  const object = (): ObjectValue => eventObject({ uuid, path, atMs: at.getTime() }, value, space.name);
  const told = [
    ...space.before.explain(path, value, object).map((one) => explained(one, 'BEFORE')),
    ...space.when.explain(path, value, object).map((one) => explained(one, 'WHEN')),
    ...inactive(space, path),
  ];
  if (space.correlations.has(path)) told.push(...awaited(space, path, value, object, uuid));
  const rules = name === null ? told : told.filter(({ rule }) => rule === name);
  if (name !== null && rules.length === 0) {
    if (!space.definitions.get('rules', name)) throw fault('cascade.resource.not.found', `/rules/${name}`);
    rules.push({ rule: name, outcome: 'otherPath' });
  }
  return { path, value, rules };
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

/** Rules over several events: what they wait for, and of an event that has come whether it still counts. */
function awaited(space: Namespace, path: string, value: Value, object: () => ObjectValue, uuid: string): ObjectValue[] {
  const places = new Map(space.correlations.match(path, value, object).map((one) => [one.rule, [...(one.places ?? [])]]));
  return space.correlations.explain(path, value, object, uuid).map(({ open, ...one }): ObjectValue => {
    const told = explained(one, 'WHEN');
    if (!one.matched) return told;
    const triggers = places.get(`~${one.rule.name}`) ?? [];
    if (uuid === '' || space.correlations.areAsleep) return { ...told, outcome: 'waits', triggers };
    const windows = open.map(({ deadlineMs, happenings }) => ({
      until: Number.isFinite(deadlineMs) ? new DateTime(deadlineMs) : null,
      events: happenings.map((happening) => happening.uuid),
    }));
    return { ...told, outcome: windows.length > 0 ? 'waits' : 'closed', triggers, windows };
  });
}

function inactive(space: Namespace, path: string): ObjectValue[] {
  return space.definitions
    .list('rules')
    .filter(
      ([, rule]) =>
        rule['active'] === false && (rule['triggers'] as ObjectValue[] | undefined)?.some((trigger) => trigger['path'] === path),
    )
    .map(([name]) => ({ rule: name, outcome: 'inactive' }));
}
