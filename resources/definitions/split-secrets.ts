// Takes the secrets out of a definition before it is stored: they are sealed apart from it.
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';

export interface Split {
  /** The object without secrets. */
  readonly open: ObjectValue;
  /** By dotted path; null: the secret is removed. */
  readonly secrets: Map<string, Value>;
}

/** @param isSecret of a path inside the object, and the value there */
export function splitSecrets(object: ObjectValue, isSecret: (path: readonly string[], value: Value) => boolean): Split {
  const secrets = new Map<string, Value>();
  const walk = (inner: ObjectValue, path: readonly string[]): ObjectValue => {
    const open: ObjectValue = {};
    for (const key of Object.keys(inner)) {
      const value = getOwn(inner, key);
      const at = [...path, key];
      if (isSecret(at, value)) secrets.set(at.join('.'), value);
      else setOwn(open, key, isObject(value) ? walk(value, at) : value);
    }
    return open;
  };
  return { open: walk(object, []), secrets };
}
