// The state types of a service (language.md 8): initial values of its variables, and the values that they accept.
import { createHash } from 'node:crypto';
import type { ServiceStateNames } from '../../compiler/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { encodeInner, getOwn, isObject, Shared, stringify, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import {
  handleOf,
  type StoredValue,
  kindOf,
  NOTHING,
  type ServiceState,
  type StateProperties,
  StateStore,
  type StateEnvironment,
  valueOf,
} from '../../runtime/shared-state/index.ts';
import { coerceProperty, type PropertyDefinition, type TypeDefinition } from '../../model/types/index.ts';
import { publishTopic } from '../topics/index.ts';
import { serviceActor } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

/** The names of a service's state variables, for the compiler; null where it has none. */
export function stateNamesOf(space: Pick<Namespace, 'catalog'>, service: string): ServiceStateNames | null {
  const declared = space.catalog.definitions.get('services', service);
  const names = (field: string): string[] | null => {
    const type = declared && typeIn(space, declared, field);
    return type ? [...type.properties.keys()] : null;
  };
  const [global, partitioned] = [names('globalType'), names('partitionedType')];
  return global || partitioned ? { global, partitioned } : null;
}

/** Drops the compiled procedures of a service: they depend on its state types, and are compiled again when it or one of these changes. */
export function stateChanged(space: Namespace, service: string): void {
  for (const [name, procedure] of space.catalog.definitions.list('procedures'))
    if (getOwn(procedure, 'serviceName') === service) space.execution.sandbox.procedureChanged(space.name, name);
}

/** The services that use this type as a state. */
export function servicesWithState(space: Namespace, type: string): string[] {
  const uses = (declared: ObjectValue): boolean =>
    ['globalType', 'partitionedType'].some((field) => Object.hasOwn(declared, field) && getOwn(declared, field) === type);
  return space.catalog.definitions.list('services').flatMap(([name, declared]) => (uses(declared) ? [name] : []));
}

/** Opens the state of a namespace's services. */
export function openState(space: () => Namespace): StateStore {
  const kept = new Map<
    string,
    { readonly global: TypeDefinition | null; readonly partitioned: TypeDefinition | null; state: ServiceState }
  >();
  const store = new StateStore(
    (service) => {
      const declared = space().catalog.definitions.get('services', service);
      if (!declared) return null;
      const global = typeIn(space(), declared, 'globalType');
      const partitioned = typeIn(space(), declared, 'partitionedType');
      if (!global && !partitioned) return null;
      const known = kept.get(service);
      if (known && known.global === global && known.partitioned === partitioned) return known.state;
      const state: ServiceState = {
        version: createHash('sha256')
          .update(`${shapeOf(global)}\n${shapeOf(partitioned)}`)
          .digest('hex'),
        global: global && propertiesOf(service, global, store),
        partitioned: partitioned && propertiesOf(service, partitioned, store),
      };
      kept.set(service, { global, partitioned, state });
      return state;
    },
    environmentOf(space),
    (run) => space().execution.contention.leave(run),
  );
  return store;
}

/** The environment of a Cache: a clock, and topics for evicted entries. */
function environmentOf(space: () => Namespace): StateEnvironment {
  return {
    get owner() {
      return space().name;
    },
    clock: { now: () => space().clock.now(), at: (timeMs, call) => space().clock.at(timeMs, call) },
    evicted: (topic, key, value) => {
      const { log, name } = space();
      const shown = value.refs.length > 0 ? null : valueOf(value); // a shared object cannot leave the namespace's runs
      publishTopic(space(), topic, { key, value: shown }, serviceActor(space())).catch((error: unknown) =>
        log.warn({ err: error, namespace: name, topic }, 'an eviction could not be published'),
      );
    },
  };
}

function typeIn(space: Pick<Namespace, 'catalog'>, declared: ObjectValue, field: string): TypeDefinition | null {
  const name = Object.hasOwn(declared, field) ? getOwn(declared, field) : null;
  return typeof name === 'string' ? (space.catalog.types.get(name) ?? null) : null;
}

const shapeOf = (type: TypeDefinition | null): string =>
  type ? [...type.properties.values()].map(({ name, declared }) => `${name} ${stringify(declared)}`).join('\n') : '';

function propertiesOf(service: string, type: TypeDefinition, store: StateStore): StateProperties {
  return new Map(
    [...type.properties.values()].map((property) => [
      property.name,
      {
        type: property.type,
        initial: () => initialOf(property, store),
        accept: (value: StoredValue) => accepted(service, property, value),
      },
    ]),
  );
}

function initialOf(property: PropertyDefinition, store: StateStore): StoredValue {
  if (property.default !== undefined) return { json: encodeInner(property.default), refs: [] };
  if (property.multi) return NOTHING;
  if (property.shared) return handleOf(store.make(property.shared));
  switch (property.base) {
    case 'Object':
      return { json: '{}', refs: [] };
    case 'Integer':
      return { json: '0', refs: [] };
    case 'Real':
      return { json: '"\\u0001r0"', refs: [] };
    default:
      return NOTHING;
  }
}

/**
 * Converts a value for a state property: a property of type Map or Value accepts only such an object, an untyped Object may contain them,
 * others convert as stored properties do.
 */
function accepted(service: string, property: PropertyDefinition, value: StoredValue): StoredValue | null {
  if (value.json === 'null') return value;
  if (property.shared) return kindOf(value) === property.shared || (property.shared === 'Map' && kindOf(value) === 'Cache') ? value : null;
  if (value.refs.length > 0) return holdsObjects(property, valueOf(value)) ? value : null;
  try {
    return { json: encodeInner(coerceProperty({ name: service }, property, valueOf(value))), refs: [] };
  } catch (error) {
    if (error instanceof CascadeError) return null;
    throw error;
  }
}

const holdsObjects = (property: PropertyDefinition, value: Value): boolean =>
  property.base === 'Object' &&
  !property.structure &&
  !(value instanceof Shared) &&
  (property.multi ? Array.isArray(value) : isObject(value));
