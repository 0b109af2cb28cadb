// The secret fields of a source's config (integrations.md 1.3): they are taken out of it before it is stored, and sealed. Nothing readable
// holds them, not even a placeholder.
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import { type Split, splitSecrets } from '../../resources/definitions/index.ts';

const SECRET_FIELDS = new Set([
  'password',
  'accessToken',
  'clientSecret',
  'inboundSecret',
  'oauthClientSecret',
  'oauthRefreshToken',
  'firebaseServerKey',
  'serverKey',
  'keyPassword',
  'pkcs12Password',
  'pkcs12Contents',
  'apnsKey',
]);
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'x-api-key']);

/** Whether the value names another secret, so that it is none itself. */
const isIndirect = (value: Value): boolean => typeof value === 'string' && /^(?:@secrets\(.+\)$|\/system\.secrets\/)/.test(value);

/** Whether a path inside a config is that of a secret. */
export function isSecret(path: readonly string[]): boolean {
  const [last = '', ...before] = [...path].reverse();
  if (path.length === 1) return SECRET_FIELDS.has(last);
  // The names of a request document are read whatever their case (integrations.md 1.5).
  if (before[0]?.toLowerCase() === 'headers' && before[1] === 'requestDefaults') return SECRET_HEADERS.has(last.toLowerCase());
  return last === 'password' || (before[0] === 'pemKeyCertOptions' && last === 'keyValues');
}

/** Takes the secrets out of a config. */
export const splitConfig = (config: ObjectValue): Split => splitSecrets(config, (path, value) => isSecret(path) && !isIndirect(value));

/** The place that a secret is sealed for: it opens for this source and field only. */
const place = (source: string, field: string): string => `source ${source} ${field}`;

/**
 * The stored secrets that stay with a new config: those that it does not give anew, be it by the name of another secret.
 * @param open the config without the secrets that it gives
 */
export function remaining(stored: ObjectValue, open: ObjectValue, secrets: ReadonlyMap<string, Value>): ObjectValue {
  const given = new Set([...secrets.keys(), ...secretPaths(open)].map(spelled));
  const stay: ObjectValue = {};
  for (const field of Object.keys(stored)) if (!given.has(spelled(field))) setOwn(stay, field, getOwn(stored, field));
  return stay;
}

/** The names of headers are one whatever their case. */
const spelled = (field: string): string => (/^requestDefaults\.headers\./i.test(field) ? field.toLowerCase() : field);

function secretPaths(value: ObjectValue, at: readonly string[] = []): string[] {
  return Object.keys(value).flatMap((name) => {
    const [path, member] = [[...at, name], getOwn(value, name)];
    if (isSecret(path)) return [path.join('.')];
    return isObject(member) ? secretPaths(member, path) : [];
  });
}

/** The stored form of the secrets: base64 texts by path. Secrets that are not named stay, null removes one. */
export function sealed(cipher: Cipher, source: string, before: ObjectValue, secrets: ReadonlyMap<string, Value>): ObjectValue {
  const after: ObjectValue = {};
  for (const field of Object.keys(before)) if (!secrets.has(field)) setOwn(after, field, getOwn(before, field));
  for (const [field, value] of secrets)
    if (value !== null) setOwn(after, field, Buffer.from(cipher.seal(encodeInner(value), place(source, field))).toString('base64'));
  return after;
}

/** Seals the secrets with another key. */
export function resealed(source: string, secrets: ObjectValue, again: (text: string, place: string) => string): ObjectValue {
  const after: ObjectValue = {};
  for (const field of Object.keys(secrets)) setOwn(after, field, again(String(getOwn(secrets, field)), place(source, field)));
  return after;
}

/** The config including its secrets, for checks and connections. @throws Error for a text that was sealed otherwise */
export function wholeConfig(cipher: Cipher, source: string, config: ObjectValue, secrets: ObjectValue): ObjectValue {
  const whole = withPaths(config);
  for (const field of Object.keys(secrets)) {
    const path = field.split('.');
    if (isOrphan(config, path)) continue;
    let at = whole;
    for (const name of path.slice(0, -1)) {
      const inner = Object.hasOwn(at, name) ? getOwn(at, name) : null;
      const next: ObjectValue = isObject(inner) ? inner : {};
      setOwn(at, name, next);
      at = next;
    }
    const value = decodeInner(cipher.open(Buffer.from(String(getOwn(secrets, field)), 'base64'), place(source, field)));
    if (!Object.hasOwn(at, path.at(-1) ?? '')) setOwn(at, path.at(-1) ?? '', value);
  }
  return whole;
}

/**
 * Whether the options that a secret belongs to are gone: the password of a key store is useless without the store. Headers need no such
 * options.
 */
function isOrphan(config: ObjectValue, path: readonly string[]): boolean {
  if (path[0] === 'requestDefaults' && path[1]?.toLowerCase() === 'headers') return false;
  let at: Value = config;
  for (const name of path.slice(0, -1)) at = isObject(at) && Object.hasOwn(at, name) ? getOwn(at, name) : null;
  return !isObject(at);
}

/** A copy of the config whose nested Objects can be extended. */
function withPaths(config: ObjectValue): ObjectValue {
  const copy: ObjectValue = {};
  for (const key of Object.keys(config)) {
    const value = getOwn(config, key);
    setOwn(copy, key, isObject(value) ? withPaths(value) : value);
  }
  return copy;
}
