// The digests by name, with HMAC; the isolate has no crypto of its own. Bytes in, bytes out.
import { hmac as keyedHash } from '@noble/hashes/hmac.js';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';

export const DIGESTS = { md5, sha1, sha256, sha384, sha512 } as const;
export type DigestName = keyof typeof DIGESTS;

/** RFC 2104. */
export function hmac(name: DigestName, key: Uint8Array, bytes: Uint8Array): Uint8Array {
  return keyedHash(DIGESTS[name], key, bytes);
}
