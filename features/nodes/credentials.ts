// Opens the credentials of a node for its client's login; they are used nowhere else.
import { decodeInner, getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { pathInOptions, withSecret } from './client-options.ts';

/** Credentials for a login: a long-lived token, or a user's name and password. */
export type NodeCredentials = { readonly token: string } | { readonly username: string; readonly password: string };

/** The place that a secret field of a node is sealed for. */
export const placeOf = (node: string, field: string): string => `node ${node} ${field}`;

/** Null where the credentials cannot be opened, since the installation's key is missing. */
export async function nodeCredentials(space: Namespace, name: string, node: ObjectValue): Promise<NodeCredentials | null> {
  const sealed = Object.hasOwn(node, 'sealed') ? getOwn(node, 'sealed') : null;
  const cipher = await space.installation.keys.cipherOf(space.name);
  const open = (field: string): string | null => {
    const text = isObject(sealed) && Object.hasOwn(sealed, field) ? getOwn(sealed, field) : null;
    return cipher && typeof text === 'string' ? String(decodeInner(cipher.open(Buffer.from(text, 'base64'), placeOf(name, field)))) : null;
  };
  if (getOwn(node, 'credentialType') === 'token') {
    const token = open('accessToken');
    return token === null ? null : { token };
  }
  const password = open('password');
  return password === null ? null : { username: String(getOwn(node, 'username')), password };
}

/** A secret of a node; null where the installation's key is missing. */
export async function opened(space: Namespace, node: string, field: string, sealed: string): Promise<Value> {
  const cipher = await space.installation.keys.cipherOf(space.name);
  return cipher && decodeInner(cipher.open(Buffer.from(sealed, 'base64'), placeOf(node, field)));
}

/** The `clientOptions` of a node including their secrets. */
export async function nodeOptions(space: Namespace, name: string, node: ObjectValue): Promise<ObjectValue> {
  const member = (field: string): Value => (Object.hasOwn(node, field) ? getOwn(node, field) : null);
  const [open, sealed] = [member('clientOptions'), member('sealed')];
  let options: ObjectValue = isObject(open) ? open : {};
  for (const [field, text] of Object.entries(isObject(sealed) ? sealed : {})) {
    const path = pathInOptions(field);
    if (path) options = withSecret(options, path, await opened(space, name, field, String(text)));
  }
  return options;
}
