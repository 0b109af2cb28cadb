// The `clientOptions` of a node: TLS options (integrations.md 11.1, 1.11). Their keys and passwords are sealed apart from the rest, as the
// node's credentials are, and never shown.
import { TLS_FIELDS } from '../../platform/egress/index.ts';
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Split, splitSecrets } from '../../resources/definitions/index.ts';

/** Begins the names of sealed fields; the path inside the options follows. */
const PREFIX = 'clientOptions.';

const isSecret = (path: readonly string[]): boolean => path.at(-1) === 'password' || path.join('.') === 'pemKeyCertOptions.keyValues';
const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

/** The secrets are by the name of their sealed field. */
export function splitOptions(options: ObjectValue): Split {
  const { open, secrets } = splitSecrets(options, isSecret);
  return { open, secrets: new Map([...secrets].map(([path, value]) => [PREFIX + path, value])) };
}

/** Whether a sealed field is a secret of options: null where it is none, else its path inside them. */
export const pathInOptions = (field: string): readonly string[] | null =>
  field.startsWith(PREFIX) ? field.slice(PREFIX.length).split('.') : null;

/** Whether the options still have what a secret at this path belongs to: the password of a store that is gone is of no use. */
export function hasPlaceFor(options: ObjectValue, path: readonly string[]): boolean {
  let at: Value = options;
  for (const name of path.slice(0, -1)) at = isObject(at) ? own(at, name) : null;
  return isObject(at);
}

/** The options with a secret at its path. */
export function withSecret(options: ObjectValue, [name = '', ...rest]: readonly string[], secret: Value): ObjectValue {
  const copy: ObjectValue = { ...options };
  const inner = own(options, name);
  setOwn(copy, name, rest.length === 0 ? secret : withSecret(isObject(inner) ? inner : {}, rest, secret));
  return copy;
}

/** What is wrong with the options including their secrets; null: nothing. */
export function optionsFault(options: ObjectValue): string | null {
  for (const [name, fits] of Object.entries(TLS_FIELDS)) {
    const value = own(options, name);
    const wrong = value === null ? null : fits(value);
    if (wrong !== null) return `clientOptions.${name}: ${wrong}`;
  }
  return null;
}
