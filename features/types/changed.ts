// What depends on a type and is made anew when it changes: programs and conditions.
import { BASE_TYPES } from '../../model/types/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { servicesWithState, stateChanged } from '../services/index.ts';

const STANDARD: ReadonlySet<string> = new Set([...BASE_TYPES, 'Any'].map((name) => name.toLowerCase()));

export function typeChanged(space: Namespace, name: string): void {
  for (const service of servicesWithState(space, name)) stateChanged(space, service);
  spellingChanged(space, name);
  space.events.when.retype(name);
  space.events.before.retype(name);
  space.events.correlations.retype(name);
}

/** A type that is named like a standard one in other case takes over, or gives back, the parameters that spell it so (language.md P1). */
export function spellingChanged(space: Namespace, name: string): void {
  if (!STANDARD.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())) return;
  for (const [procedure] of space.catalog.definitions.list('procedures')) space.execution.sandbox.procedureChanged(space.name, procedure);
}
