// Merges request documents (integrations.md 2.2): the source's defaults, then the caller's request. Pure.
import { getOwn, isObject, type ObjectValue, setOwn } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';

/** The properties of a request document by their names in lower case, since WITH ignores case. */
const PROPERTIES = new Map(
  (
    'method path query fragment headers body parts contentType acceptType responseType requestTimeout asFullResponse asFullExchange ' +
    'includeRedirect saveAs'
  )
    .split(' ')
    .map((name) => [name.toLowerCase(), name]),
);

/**
 * Merges `contentType` and `requestDefaults` of the config and the documents, in order: `headers` and `query` key by key, other members as
 * a whole.
 */
export function mergedRequest(config: ObjectValue, ...documents: ObjectValue[]): ObjectValue {
  const [contentType, defaults] = [own(config, 'contentType'), own(config, 'requestDefaults')];
  const merged: ObjectValue = {};
  for (const part of [contentType === null ? {} : { contentType }, isObject(defaults) ? defaults : {}, ...documents])
    for (const written of Object.keys(part)) {
      const key = PROPERTIES.get(written.toLowerCase()) ?? written;
      const [before, value] = [own(merged, key), getOwn(part, written)];
      const byKey = (key === 'headers' || key === 'query') && isObject(before) && isObject(value);
      setOwn(merged, key, byKey ? mergedKeys(before, value, key === 'headers') : value);
    }
  return merged;
}

function mergedKeys(before: ObjectValue, after: ObjectValue, withoutCase: boolean): ObjectValue {
  const key = (name: string): string => (withoutCase ? name.toLowerCase() : name);
  const replaced = new Set(Object.keys(after).map(key));
  const merged: ObjectValue = {};
  for (const name of Object.keys(before)) if (!replaced.has(key(name))) setOwn(merged, name, getOwn(before, name));
  for (const name of Object.keys(after)) setOwn(merged, name, getOwn(after, name));
  return merged;
}
