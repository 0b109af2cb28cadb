// The task of the threads that hash passwords: whoever is there may ask for it, so all else comes first.
import { scryptSync } from 'node:crypto';
import { lowerPriority } from '../platform/threads/index.ts';

lowerPriority();

export interface HashTask {
  readonly password: string;
  readonly salt: Uint8Array;
  /** Of the hash. */
  readonly bytes: number;
  /** What scrypt takes. */
  readonly options: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number };
}

export default ({ password, salt, bytes, options }: HashTask): Uint8Array => scryptSync(password, salt, bytes, options);
