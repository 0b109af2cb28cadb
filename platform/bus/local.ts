// A bus inside one process, for services that share it and for tests, which make it lose, repeat and delay messages.

import type { Bus } from './types.ts';

const MOST_BYTES = 256 * 1024;

/** What becomes of each message; nothing happens to it when absent. */
export interface Faults {
  /** After how many milliseconds each copy of a message arrives; none: it is lost. */
  fate(subject: string): readonly number[];
}

export interface LocalNetwork {
  /** A connection to it. */
  connect(): Bus;
  /** Nothing arrives while it is cut. */
  isCut: boolean;
  faults: Faults | null;
}

export function openLocalNetwork(): LocalNetwork {
  const takers = new Map<string, Set<(bytes: Uint8Array) => void>>();
  const arrive = (subject: string, bytes: Uint8Array): void => {
    if (!network.isCut) for (const take of [...(takers.get(subject) ?? [])]) take(bytes);
  };
  const network: LocalNetwork = {
    isCut: false,
    faults: null,
    connect() {
      const own = new Set<() => void>();
      return {
        mostBytes: MOST_BYTES,
        get isConnected() {
          return !network.isCut;
        },
        publish(subject, bytes) {
          const copy = Uint8Array.prototype.slice.call(bytes);
          if (!network.faults) setImmediate(arrive, subject, copy);
          else for (const ms of network.faults.fate(subject)) setTimeout(arrive, ms, subject, copy).unref();
        },
        subscribe(subject, take) {
          const all = takers.get(subject) ?? new Set();
          takers.set(subject, all.add(take));
          const end = (): void => {
            all.delete(take);
            own.delete(end);
          };
          own.add(end);
          return end;
        },
        async [Symbol.asyncDispose]() {
          for (const end of own) end();
        },
      };
    },
  };
  return network;
}
