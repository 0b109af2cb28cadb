// Predicates for the fields of a config: each returns what is wrong with a value, or null.
import { apiError } from '../../../model/errors/index.ts';
import { getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';

/** Returns why a value does not fit, or null. */
export type Fits = (value: Value) => string | null;

export const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

export const text: Fits = (value) => (typeof value === 'string' && value !== '' ? null : 'no String');
/** A media type, with or without parameters. */
export const mediaTypeText: Fits = (value) =>
  typeof value === 'string' && /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+*-]{1,100}(?:\s*;[^\r\n\0]*)?$/.test(value) ? null : 'no media type';
/** A host name or IP address. */
export const host: Fits = (value) => (typeof value === 'string' && /^[^\s/@:\0]+$|^\[?[0-9a-f:.]+\]?$/i.test(value) ? null : 'no host');
export const flag: Fits = (value) => (typeof value === 'boolean' ? null : 'no Boolean');
export const object: Fits = (value) => (isObject(value) ? null : 'no Object');
export const texts: Fits = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? null : 'no array of Strings';
/** A list of names without empty ones. */
export const names: Fits = (value) => texts(value) ?? ((value as string[]).includes('') ? 'an empty String' : null);
export const textOrTexts: Fits = (value) =>
  typeof value === 'string' ? text(value) : (texts(value) ?? ((value as Value[]).length > 0 ? null : 'empty'));
export const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Fits =>
  (value) =>
    !isInteger(value) ? 'no Integer' : value < least || value > most ? `not within ${least} and ${most}` : null;
export const oneOf =
  (...allowed: Value[]): Fits =>
  (value) =>
    allowed.includes(value) ? null : `none of ${allowed.join(', ')}`;

/** One address or several, with one of these schemes (patterns) and without credentials, which have fields of their own. */
export const address =
  (...schemes: string[]): Fits =>
  (value) => {
    const wrong = textOrTexts(value);
    if (wrong !== null) return wrong;
    const pattern = new RegExp(`^(?:${schemes.join('|')})://[^/\\s]`, 'i');
    for (const one of [value].flat().map(String)) {
      if (!pattern.test(one) || !URL.canParse(one)) return `no address of ${schemes.join(', ')}`;
      const { username, password } = new URL(one);
      if (username !== '' || password !== '') return 'credentials do not belong in an address';
    }
    return null;
  };

/** The hosts of the addresses in the named fields of a config. */
export const hostsIn = (config: ObjectValue, ...names: string[]): string[] =>
  names
    .flatMap((name) => [own(config, name)].flat())
    .flatMap((one) => {
      if (typeof one !== 'string') return [];
      return URL.canParse(one) ? [new URL(one).hostname] : [];
    });

/** Fields of every source. */
export const COMMON: Readonly<Record<string, Fits>> = { echoPublish: flag, maxMessageSize: whole(1, 16_777_216) };
export const ANY_DIRECTION = ['BOTH', 'SOURCE', 'SINK'] as const;

/** Checks optional members of a request, each by its predicate. @throws cascade.request.body.invalid */
export function checkMembers(request: ObjectValue, members: Readonly<Record<string, Fits>>): void {
  for (const [name, fits] of Object.entries(members)) {
    const value = own(request, name);
    const wrong = value === null ? null : fits(value);
    if (wrong !== null) throw apiError('cascade.request.body.invalid', `${name}: ${wrong}`, 0);
  }
}
