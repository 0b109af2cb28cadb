// Reads from topics, sources and service events whether their events are delivered until they are acknowledged, and with which parameters
// (integrations.md 1.1, 9.2; resources-and-api.md 4.5).

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { DefinitionStore } from '../../resources/catalog/index.ts';
import type { Reliability } from './stored-delivery.ts';

const FREQUENCY_SECONDS = 30;
const TTL_SECONDS = 3_600;

const TOPIC = /^\/topics(\/.+)\/publish$/;
const SOURCE = /^\/sources\/(.+)\/publish$/;
const SERVICE = /^\/services\/([^/]+)\/(.+)$/;

/** Null: events of this path are delivered once. */
export function reliabilityOf(definitions: DefinitionStore, path: string): Reliability | null {
  const declared = declarationOf(definitions, path);
  if (!declared || member(declared, 'isReliable') !== true) return null;
  const frequency = seconds(declared, 'redeliveryFrequency') ?? FREQUENCY_SECONDS;
  const ttl = seconds(declared, 'redeliveryTTL') ?? Math.max(TTL_SECONDS, frequency);
  return { frequencyMs: frequency * 1_000, ttlMs: ttl * 1_000 };
}

function declarationOf(definitions: DefinitionStore, path: string): ObjectValue | undefined {
  if (path.startsWith('/types/')) return undefined;
  const [, topic] = TOPIC.exec(path) ?? [];
  if (topic !== undefined) return definitions.get('topics', topic);
  const [, source] = SOURCE.exec(path) ?? [];
  if (source !== undefined) return definitions.get('sources', source);
  const [, service = '', event = ''] = SERVICE.exec(path) ?? [];
  const types = member(definitions.get('services', service) ?? {}, 'eventTypes');
  const found = isObject(types) ? member(types, event) : null;
  return isObject(found) ? found : undefined;
}

const member = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

function seconds(object: ObjectValue, name: string): number | undefined {
  const value = member(object, name);
  return value === null ? undefined : Number(value);
}
