// Topics and sources that something is published on for a caller: by a statement, or later by the service (a form's answer, an arrival, an eviction).
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { type Namespace, resolve } from '../catalog/index.ts';
import { requireUse } from './gate.ts';
import { requireRight } from './rights.ts';

/** What names a topic for later asks here, too: else it would be a way around the topic's group. @throws cascade.authorization.denied */
export function requirePublish(space: Namespace, topic: string, caller: Identity): void {
  requireRight(space, resolve(space, 'topics', false), 'publish', caller);
  requireUse(space, 'topics', topic, 'publish', caller);
}

/** The same for a source, of whose name nothing is known yet. @throws cascade.authorization.denied */
export function requirePublishToSource(space: Namespace, source: string, caller: Identity): void {
  requireRight(space, resolve(space, 'sources', false), 'publish', caller);
  if (space.catalog.definitions.get('sources', source)) requireUse(space, 'sources', source, 'publish', caller);
}

/** The same for a request about shared state, if it tells a Cache a topic. @throws cascade.authorization.denied */
export function requireEvictionTopic(space: Namespace, request: ObjectValue, caller: Identity): void {
  if (!Object.hasOwn(request, 'method') || getOwn(request, 'method') !== 'notifyOnEviction') return;
  const args = getOwn(request, 'args');
  const topic = Array.isArray(args) ? args[0] : null;
  if (typeof topic === 'string') requirePublish(space, topic, caller);
}
