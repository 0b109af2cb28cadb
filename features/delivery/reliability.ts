// Reads from topics, sources and service events whether their events are delivered until they are acknowledged, and with which parameters
// (integrations.md 1.1, 9.2; resources-and-api.md 4.5).

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { DefinitionStore } from '../../resources/catalog/index.ts';
import type { Reliability } from './stored-delivery.ts';

const FREQUENCY_SECONDS = 30;
const TTL_SECONDS = 3_600;
const LONGEST_FREQUENCY_SECONDS = 86_400;
/** Above it Integers are no numbers of JavaScript. */
const LONGEST_TTL_SECONDS = Number.MAX_SAFE_INTEGER;

const TOPIC = /^\/topics(\/.+)\/publish$/;
const SOURCE = /^\/sources\/(.+)\/publish$/;
const SERVICE = /^\/services\/([^/]+)\/(.+)$/;

/** Null: events of this path are delivered once. */
export function reliabilityOf(definitions: DefinitionStore, path: string): Reliability | null {
  const declared = declarationOf(definitions, path);
  if (!declared || member(declared, 'isReliable') !== true) return null;
  const { redeliveryFrequency, redeliveryTTL } = redeliveryOf(declared);
  return { frequencyMs: redeliveryFrequency * 1_000, ttlMs: redeliveryTTL * 1_000 };
}

/** In seconds, as declared or by default; the default time to live is never below the frequency. */
export function redeliveryOf(declared: ObjectValue): { redeliveryFrequency: number; redeliveryTTL: number } {
  const redeliveryFrequency = seconds(declared, 'redeliveryFrequency') ?? FREQUENCY_SECONDS;
  return { redeliveryFrequency, redeliveryTTL: seconds(declared, 'redeliveryTTL') ?? Math.max(TTL_SECONDS, redeliveryFrequency) };
}

/** What is out of range in the fields of a topic, a source or an event of a service (integrations.md 1.1), and why; null: nothing. */
export function wrongRedelivery(declared: ObjectValue): { field: string; reason: string } | null {
  const { redeliveryFrequency, redeliveryTTL } = redeliveryOf(declared);
  if (redeliveryFrequency < 1 || redeliveryFrequency > LONGEST_FREQUENCY_SECONDS)
    return { field: 'redeliveryFrequency', reason: `not within 1 and ${LONGEST_FREQUENCY_SECONDS}` };
  if (redeliveryTTL < redeliveryFrequency) return { field: 'redeliveryTTL', reason: 'less than redeliveryFrequency' };
  return redeliveryTTL > LONGEST_TTL_SECONDS ? { field: 'redeliveryTTL', reason: `above ${LONGEST_TTL_SECONDS}` } : null;
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
