// Passwords: made, hashed, compared (resources-and-api.md 6.5). The hash is self-describing, so its cost can be raised later.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Piscina } from 'piscina';
import { apiError } from '../model/errors/index.ts';
import type { HashTask } from './hash-thread.ts';

/** Each takes memory and a core. */
export const HASHES_AT_ONCE = 2;
/** Time that a thread stays without work, in ms. */
const IDLE_MS = 30_000;
/** In threads of a low priority, not in those of libuv, which also read files and look up names. They keep no process from ending. */
const threads = new Piscina({
  filename: new URL(import.meta.url.endsWith('.ts') ? './hash-thread.ts' : './hash-thread.js', import.meta.url).href,
  minThreads: 0,
  maxThreads: HASHES_AT_ONCE,
  concurrentTasksPerWorker: 1,
  idleTimeout: IDLE_MS,
  atomics: 'disabled',
  recordTiming: false,
});

/** What scrypt takes: memory is 128·N·r bytes, time goes with N·r·p. */
export interface PasswordCost {
  /** A power of 2. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** @param bits the binary logarithm of N */
export const passwordCostOf = (bits: number): PasswordCost => ({ N: 2 ** bits, r: 8, p: 1 });

/** 128 MiB a hash. */
export const PASSWORD_COST: PasswordCost = passwordCostOf(17);

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const SHORTEST = 8;
const LONGEST = 256;

/** @throws user.password.weak; the length counts characters, not UTF-16 units */
export function requireStrong(password: string): void {
  const length = [...password].length;
  if (length < SHORTEST || length > LONGEST)
    throw apiError('cascade.user.password.weak', 'users', 'password', `it must have ${SHORTEST} to ${LONGEST} characters`);
}

/** `scrypt$N$r$p$salt$hash`, the last two in base64. */
export async function hashPassword(password: string, cost: PasswordCost = PASSWORD_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return hashText(cost, salt, await derive(password, salt, HASH_BYTES, cost));
}

/**
 * Whether the password is the one of the hash. A password that is not takes the same time whoever the user is: one that does not exist, and so has no
 * hash, or one whose hash is of a lower cost.
 * @param stored of `hashPassword`; null for an unknown user, which never matches
 */
export async function matchesPassword(password: string, stored: string | null, cost: PasswordCost = PASSWORD_COST): Promise<boolean> {
  const { cost: paid, salt, hash } = partsOf(stored ?? decoyOf(cost));
  const again = (): Promise<Buffer> => derive(password, salt, hash.length, paid);
  if (timingSafeEqual(await again(), hash) && stored !== null) return true;
  for (let work = workOf(paid); work < workOf(cost); work += workOf(paid)) await again();
  return false;
}

/** Whether a hash of this cost is found sooner than one of the usual cost. */
export const isCheap = (cost: PasswordCost): boolean => workOf(cost) < workOf(PASSWORD_COST);

/** Whether a hash cost less than one made now. */
export const isOutdated = (stored: string, cost: PasswordCost = PASSWORD_COST): boolean => workOf(partsOf(stored).cost) < workOf(cost);

/** 144 random bits, without letters' look-alikes mattering: it is copied, not typed. */
export const generatePassword = (): string => randomBytes(18).toString('base64url');

/** A hash that no password is known for. */
const decoyOf = (cost: PasswordCost): string => hashText(cost, Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

const hashText = ({ N, r, p }: PasswordCost, salt: Buffer, hash: Buffer): string =>
  ['scrypt', N, r, p, salt.toString('base64'), hash.toString('base64')].join('$');

function partsOf(stored: string): { cost: PasswordCost; salt: Buffer; hash: Buffer } {
  const [, N, r, p, salt = '', hash = ''] = stored.split('$');
  return { cost: { N: Number(N), r: Number(r), p: Number(p) }, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

const workOf = ({ N, r, p }: PasswordCost): number => N * r * p;

/** scrypt needs 128·N·r bytes; the limit is twice that, so that a raised cost fails loudly here and not at a login. */
async function derive(password: string, salt: Buffer, bytes: number, cost: PasswordCost): Promise<Buffer> {
  const task: HashTask = { password, salt, bytes, options: { ...cost, maxmem: 256 * cost.N * cost.r } };
  return Buffer.from((await threads.run(task)) as Uint8Array);
}
