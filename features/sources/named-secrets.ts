// Resolves secrets that a config names instead of holding them (integrations.md 1.3), when the source is activated.
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { ConnectionFailure } from './protocols/index.ts';
import { own } from './protocols/fields.ts';

/** Reads a secret of the namespace; null: no secret has this name. */
export type SecretOf = (name: string) => Promise<string | null>;

const NAMED = /@secrets\(([^()]{1,200})\)/g;
const FIELDS_BY_PATH = ['password', 'accessToken'];

/** @throws ConnectionFailure cascade.source.secret.unknown */
export async function withNamedSecrets(source: string, config: ObjectValue, secretOf: SecretOf): Promise<ObjectValue> {
  const read = async (name: string): Promise<string> => {
    const found = await secretOf(name);
    if (found !== null) return found;
    const { code, message } = apiError('cascade.source.secret.unknown', source, `there is no secret ${name}`);
    throw new ConnectionFailure(message, { code });
  };
  const resolved = async (value: Value): Promise<Value> => {
    if (typeof value === 'string') return replaced(value, read);
    if (Array.isArray(value)) return Promise.all(value.map(resolved));
    if (!isObject(value)) return value;
    const copy: ObjectValue = {};
    for (const key of Object.keys(value)) setOwn(copy, key, await resolved(getOwn(value, key)));
    return copy;
  };
  const whole = (await resolved(config)) as ObjectValue;
  for (const field of FIELDS_BY_PATH) {
    if (own(config, `${field}Type`) !== 'secret') continue;
    const path = own(config, field);
    if (typeof path === 'string') setOwn(whole, field, await read(path.replace(/^\/system\.secrets\//, '')));
  }
  return whole;
}

/** Whether the config names a secret anywhere, or another source, whose credentials then get a token for this one. */
export function namesSecret(config: ObjectValue): boolean {
  const names = (value: Value): boolean => {
    if (typeof value === 'string') return value.search(NAMED) >= 0;
    if (Array.isArray(value)) return value.some(names);
    return isObject(value) && Object.keys(value).some((key) => names(getOwn(value, key)));
  };
  return (
    names(config) || own(config, 'oauthSourceName') !== null || FIELDS_BY_PATH.some((field) => own(config, `${field}Type`) === 'secret')
  );
}

async function replaced(text: string, read: (name: string) => Promise<string>): Promise<string> {
  let result = '';
  let from = 0;
  for (const match of text.matchAll(NAMED)) {
    result += text.slice(from, match.index) + (await read((match[1] as string).trim()));
    from = match.index + match[0].length;
  }
  return result + text.slice(from);
}
