// Services (resources-and-api.md 4.5): created explicitly, or by the first procedure whose name includes them.

import { langError } from '../../stdlib/errors.ts';
import { isBuiltinService } from '../../stdlib/builtins/index.ts';
import { encodeInner, getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { implementingPath, implementingPaths } from './implemented-events.ts';
import { SERVICE_SHAPE, type DefinitionResource, type Namespace, omit } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { editorOf } from '../../resources/representation/index.ts';
import { RULE_RIGHTS, requireMayTake } from '../../resources/access/index.ts';
import { stateChanged } from './service-state.ts';
import { wrongRedelivery } from '../delivery/index.ts';
import { scheduleOf } from '../schedules/index.ts';
import { implementedEventsOf } from './namespace-state.ts';

/** Milliseconds (resources-and-api.md 9.1, minimumScheduledProcedureInterval). */
const SHORTEST_SCHEDULE_MS = 60_000;

export const SERVICES: DefinitionResource = {
  kind: 'definitions',
  name: 'services',
  systemType: 'ArsService',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete', 'publish', 'status']),
  onExisting: 'update',
  type: SERVICE_SHAPE,
  async enforce(space, name, object) {
    if (object) await readEditor(space, object);
    stateChanged(space, name);
    for (const inForce of [implementedEventsOf(space), scheduleOf(space)])
      if (object) inForce.putService(name, object);
      else inForce.removeService(name);
  },
  async define(space, body, stored, { identity }) {
    const name = textField('services', body, 'name');
    checkName('service', name);
    if (!stored && isBuiltinService(name)) throw apiError('cascade.resource.name.reserved', name, 'a built-in service has it');
    const given = checkFields(SERVICES, body, 'kept');
    const fields = stored && isDerived(space, stored, given) ? omit(given, ['interface']) : given;
    checkInterface(fields);
    checkEventTypes(fields);
    checkReplication(fields);
    checkSchedules(name, fields);
    checkStateTypes(space, fields);
    const active = getOwn(fields, 'active') !== false;
    // Everybody may hear the events of a service: it passes on what its editor may see, as a rule does.
    if (active && !identity.ofService) for (const path of implementingPaths(fields)) requireMayTake(space, path, identity);
    return {
      name,
      object: { ...fields, active },
      prepare: (object) => readEditor(space, object),
      apply: (kept) => {
        stateChanged(space, name);
        implementedEventsOf(space).putService(name, kept);
        scheduleOf(space).putService(name, kept);
      },
    };
  },
  show(space, stored) {
    return { ...stored, replicationFactor: getOwn(stored, 'replicationFactor') ?? 1, interface: interfaceOf(space, stored) };
  },
  async remove(space, stored, _actor, leaving) {
    const name = String(getOwn(stored, 'name'));
    const user = proceduresOf(space, name).find((procedure) => !leaving?.has(`/procedures/${procedure}`));
    if (user !== undefined) throw apiError('cascade.service.in.use', name, user);
    return {
      apply: () => {
        implementedEventsOf(space).removeService(name);
        scheduleOf(space).removeService(name);
      },
    };
  },
};

/** Reads the rights of who stores a service, before they are asked for at its events. */
async function readEditor(space: Namespace, object: ObjectValue): Promise<void> {
  const username = editorOf(object);
  if (username === null || implementingPaths(object).length === 0) return;
  await space.states.get(RULE_RIGHTS).read({ username, namespace: space.name, profiles: [] });
}

/** Checks the interface: names or descriptions of procedures. */
function checkInterface(fields: ObjectValue): void {
  for (const entry of listIn(fields, 'interface')) {
    const name = isObject(entry) ? getOwn(entry, 'name') : entry;
    if (typeof name !== 'string') throw invalidField('services', 'interface', 'an element is neither a name nor an Object with one');
  }
}

function checkEventTypes(fields: ObjectValue): void {
  for (const [name, event] of Object.entries(objectIn(fields, 'eventTypes'))) {
    const direction = isObject(event) ? getOwn(event, 'direction') : null;
    if (direction !== 'INBOUND' && direction !== 'OUTBOUND')
      throw invalidField('services', 'eventTypes', `the direction of ${name} is neither INBOUND nor OUTBOUND`);
    for (const [member, [what, holds]] of Object.entries(EVENT_MEMBERS)) {
      const value = Object.hasOwn(event as ObjectValue, member) ? getOwn(event as ObjectValue, member) : null;
      if (value !== null && !holds(value)) throw invalidField('services', 'eventTypes', `${member} of ${name} is no ${what}`);
    }
    const found = wrongRedelivery(event as ObjectValue);
    if (found) throw invalidField('services', 'eventTypes', `${found.field} of ${name} is ${found.reason}`);
    implementingPath(event as ObjectValue);
  }
}

const isText = (value: Value): boolean => typeof value === 'string';

/** The members of an event type besides its direction: what each must be, and its check. */
const EVENT_MEMBERS: Readonly<Record<string, readonly [what: string, holds: (value: Value) => boolean]>> = {
  description: ['String', isText],
  implementingResource: ['String', isText],
  implementingEventPath: ['String', isText],
  isReliable: ['Boolean', (value) => typeof value === 'boolean'],
  redeliveryFrequency: ['Integer above 0', (value) => isInteger(value) && value > 0],
  redeliveryTTL: ['Integer above 0', (value) => isInteger(value) && value > 0],
  eventSchema: ['String or Object', (value) => isText(value) || isObject(value)],
};

function checkReplication(fields: ObjectValue): void {
  const factor = Object.hasOwn(fields, 'replicationFactor') ? getOwn(fields, 'replicationFactor') : null;
  if (factor !== null && !(isInteger(factor) && factor >= 1)) throw invalidField('services', 'replicationFactor', 'no Integer above 0');
}

function checkSchedules(service: string, fields: ObjectValue): void {
  for (const [procedure, ms] of Object.entries(objectIn(fields, 'scheduledProcedures'))) {
    if (!isInteger(ms)) throw invalidField('services', 'scheduledProcedures', `the interval of ${procedure} is no Integer`);
    if (ms < SHORTEST_SCHEDULE_MS) throw langError('cascade.service.schedule.interval', service, procedure, SHORTEST_SCHEDULE_MS);
  }
}

/** Checks that the state types of a service are types of the namespace (language.md Y2). */
function checkStateTypes(space: Namespace, fields: ObjectValue): void {
  for (const field of ['globalType', 'partitionedType']) {
    const type = Object.hasOwn(fields, field) ? getOwn(fields, field) : null;
    if (type !== null && typeof type !== 'string') throw invalidField('services', field, 'no name of a type');
    if (type !== null && !space.catalog.types.has(type)) throw apiError('cascade.resource.type.not.found', type);
  }
}

const listIn = (fields: ObjectValue, name: string): Value[] => (getOwn(fields, name) ?? []) as Value[];
const objectIn = (fields: ObjectValue, name: string): ObjectValue => (getOwn(fields, name) ?? {}) as ObjectValue;

/** The interface of a service: its own list, or the names of its public procedures without HIDDEN ones (language.md P9). */
function interfaceOf(space: Namespace, service: ObjectValue): Value {
  const declared = getOwn(service, 'interface');
  if (declared !== null) return declared;
  return space.catalog.definitions
    .list('procedures')
    .filter(([, object]) => getOwn(object, 'serviceName') === getOwn(service, 'name'))
    .filter(([, object]) => getOwn(object, 'visibility') === 'PUBLIC' && getOwn(object, 'hidden') !== true)
    .map(([name]) => name.slice(name.lastIndexOf('.') + 1));
}

/** Whether a change gives the interface back as it was shown: it stays derived, so that later procedures are in it, too. */
const isDerived = (space: Namespace, stored: ObjectValue, given: ObjectValue): boolean =>
  getOwn(stored, 'interface') === null && encodeInner(getOwn(given, 'interface')) === encodeInner(interfaceOf(space, stored));

const proceduresOf = (space: Namespace, service: string): string[] =>
  space.catalog.definitions
    .list('procedures')
    .filter(([, object]) => getOwn(object, 'serviceName') === service)
    .map(([name]) => name);
