// Passwords: made, hashed, compared (resources-and-api.md 6.5). The hash is self-describing, so its cost can be raised later.
import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { fault } from '../faults.ts';

const scrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scryptCallback);

const COST = { N: 2 ** 15, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const SHORTEST = 8;
const LONGEST = 256;

/** @throws user.password.weak; the length counts characters, not UTF-16 units */
export function requireStrong(password: string): void {
  const length = [...password].length;
  if (length < SHORTEST || length > LONGEST)
    throw fault('cascade.user.password.weak', 'users', 'password', `it must have ${SHORTEST} to ${LONGEST} characters`);
}

/** `scrypt$N$r$p$salt$hash`, the last two in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$');
}

/**
 * Whether the password is the one of the hash. Costs the same when there is no user, and so no hash.
 * @param stored of `hashPassword`; null for an unknown user, which never matches
 */
export async function matchesPassword(password: string, stored: string | null): Promise<boolean> {
  const [, N, r, p, salt, hash] = (stored ?? DECOY).split('$');
  const expected = Buffer.from(hash!, 'base64');
  const actual = await derive(password, Buffer.from(salt!, 'base64'), expected.length, { N: Number(N), r: Number(r), p: Number(p) });
  return timingSafeEqual(actual, expected) && stored !== null;
}

/** 144 random bits, without letters' look-alikes mattering: it is copied, not typed. */
export const generatePassword = (): string => randomBytes(18).toString('base64url');

/** A hash that no password is known for, of the present cost. */
const DECOY = [
  'scrypt',
  COST.N,
  COST.r,
  COST.p,
  Buffer.alloc(SALT_BYTES).toString('base64'),
  Buffer.alloc(HASH_BYTES).toString('base64'),
].join('$');

/** scrypt needs 128·N·r bytes; the limit is twice that, so that a raised cost fails loudly here and not at a login. */
function derive(password: string, salt: Buffer, bytes: number, cost: typeof COST): Promise<Buffer> {
  return scrypt(password, salt, bytes, { ...cost, maxmem: 256 * cost.N * cost.r });
}
