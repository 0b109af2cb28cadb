// Opens the credentials of a node for its client's login; they are used nowhere else.
import { decodeInner, getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

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
