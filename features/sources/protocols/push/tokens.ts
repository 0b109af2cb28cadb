// Signs the JSON web tokens that push services require, and caches them while they are valid.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

export type SigningAlgorithm = 'RS256' | 'ES256';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @throws Error for a text that is no private key */
export const privateKeyOf = (pem: string): KeyObject => createPrivateKey(pem);

export function signedToken(algorithm: SigningAlgorithm, key: KeyObject, header: object, claims: object): string {
  const text = `${part({ alg: algorithm, typ: 'JWT', ...header })}.${part(claims)}`;
  const signature =
    algorithm === 'ES256' ? sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }) : sign('sha256', Buffer.from(text), key);
  return `${text}.${signature.toString('base64url')}`;
}
