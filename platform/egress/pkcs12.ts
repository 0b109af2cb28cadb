// PKCS#12 stores as they stand in configs, as base64 texts. A worker opens them: how long that takes is written in the store (its keys are
// stretched as often as it says), so it must be possible to end it. forge reads them, since OpenSSL in Node refuses old ciphers and stores
// without a key, and cannot be stopped.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type forge from 'node-forge';

/** What a store holds, as PEM texts. */
export interface StoreContents {
  readonly keys: readonly StoreEntry[];
  readonly certificates: readonly StoreEntry[];
}

export interface StoreEntry {
  readonly names: readonly string[];
  /** Keys and their certificates have the same; null: none is given. */
  readonly id: string | null;
  readonly pem: string;
}

export interface StoreQuestion {
  readonly base64: string;
  readonly password: string;
}

/** The version of every store since RFC 7292. */
const VERSION = 3;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;
const LONGEST = 1_400_000;
/** Some 500,000 rounds of key stretching; usual stores have between 6,000 and 200,000. */
const MOST_MS = 5_000;
/** Stores that are opened at the same time. */
const MOST_AT_ONCE = 2;
const MOST_MEGABYTES = 64;

/** Loaded by the first store: it is large, and few have one. */
let asn1: typeof forge.asn1 | undefined;
const reader = (): typeof forge.asn1 => (asn1 ??= (createRequire(import.meta.url)('node-forge') as typeof forge).asn1);

/** Why a text cannot be a store, whatever its password is; null: it may be one. */
export function storeFault(base64: string): string | null {
  if (base64.length > LONGEST) return `longer than ${LONGEST} characters`;
  try {
    if (BASE64.test(base64) && isStore(reader().fromDer(Buffer.from(base64, 'base64').toString('binary')))) return null;
  } catch {
    // forge throws at what is no DER
  }
  return 'no base64 of PKCS#12';
}

function isStore({ type, value }: forge.asn1.Asn1): boolean {
  const { SEQUENCE, INTEGER } = reader().Type;
  if (type !== SEQUENCE || !Array.isArray(value)) return false;
  const [version, safe] = value;
  return version?.type === INTEGER && version.value === String.fromCharCode(VERSION) && safe?.type === SEQUENCE;
}

/** The worker as built, also when this file runs from its TypeScript source (as in tests). */
const program = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../dist/platform/egress/pkcs12-worker.js', import.meta.url)
    : new URL('./pkcs12-worker.js', import.meta.url),
);

let underWay = 0;
const waiting: (() => void)[] = [];

/** @throws Error for an unreadable store, a wrong password, or a store that takes too long */
export async function readStore(base64: string, password: string, mostMs = MOST_MS): Promise<StoreContents> {
  const wrong = storeFault(base64);
  if (wrong !== null) throw new Error(wrong);
  if (underWay >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else underWay++;
  try {
    return await ask({ base64, password }, mostMs);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else underWay--;
  }
}

async function ask(question: StoreQuestion, mostMs: number): Promise<StoreContents> {
  const worker = new Worker(program, {
    workerData: question,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<StoreContents>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`the store cannot be opened within ${mostMs} ms`)), mostMs);
      worker.once('message', (contents: StoreContents | null) =>
        contents ? resolve(contents) : reject(new Error('the store cannot be read, or its password is wrong')),
      );
      worker.once('error', reject).once('exit', () => reject(new Error('the store could not be read')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
