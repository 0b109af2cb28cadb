// Caches the quotas of all organizations in this process: they are read on first use, and again after a change or a second, since another
// process may have changed them.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { parseQuota } from './quota.ts';
import { Usage } from './usage.ts';

/** Age at which a cached quota does not hold any more, in milliseconds: the longest time that another process's change goes unnoticed. */
const HOLDS_MS = 1_000;
/** Age at which a cached quota is read again while it holds, so that busy namespaces do not wait for it. */
const REFRESHED_MS = 700;
/** The installation's own namespace, which has no quota (9.1). */
const EXEMPT = 'system';

/** The quota of a namespace's organization; null: the namespace has no organization. */
export interface GivenQuota {
  readonly organization: string;
  /** The quota as JSON. */
  readonly quota: string;
  readonly namespaces: readonly string[];
}

export class Quotas {
  readonly #read: (namespace: string) => Promise<GivenQuota | null>;
  /** Usages by organization. */
  readonly #usages = new Map<string, Usage>();
  /** Cached answers by namespace. */
  readonly #known = new Map<string, { readonly usage: Usage | null; readonly at: number }>();
  readonly #reading = new Map<string, Promise<Usage | null>>();

  readonly #nowMs: () => number;

  constructor(read: (namespace: string) => Promise<GivenQuota | null>, nowMs = (): number => performance.now()) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /** The usage and quota for a namespace; null: unlimited. A cached answer that holds is given at once. */
  of(namespace: string): MaybePromise<Usage | null> {
    if (namespace === EXEMPT) return null;
    const known = this.#known.get(namespace);
    if (!known) return this.#readShared(namespace);
    const age = this.#nowMs() - known.at;
    if (age <= REFRESHED_MS) return known.usage;
    const read = this.#readShared(namespace).catch(() => known.usage); // better an old quota than none while the store cannot be reached
    return age > HOLDS_MS ? read : known.usage;
  }

  /** The cached quota, for synchronous callers: an old one until it is read again. */
  known(namespace: string): Usage | null {
    const asked = this.of(namespace);
    if (!(asked instanceof Promise)) return asked;
    asked.catch(() => undefined);
    return this.#known.get(namespace)?.usage ?? null;
  }

  /** Empties the cache. Called after each change of an organization; namespaces that come and go are seen within a second. */
  forget(): void {
    this.#known.clear();
    this.#reading.clear();
  }

  close(): void {
    for (const usage of this.#usages.values()) usage.close();
  }

  #readShared(namespace: string): Promise<Usage | null> {
    const reading = this.#reading.get(namespace);
    if (reading) return reading;
    const at = this.#nowMs(); // what is changed while it is read may not be in it
    const began = this.#read(namespace).then((given) => {
      const usage = given && this.#usageOf(given);
      if (this.#reading.get(namespace) === began) this.#known.set(namespace, { usage, at });
      return usage;
    });
    this.#reading.set(namespace, began);
    began.finally(() => this.#reading.get(namespace) === began && this.#reading.delete(namespace)).catch(() => undefined);
    return began;
  }

  #usageOf({ organization, quota, namespaces }: GivenQuota): Usage {
    const usage = this.#usages.get(organization) ?? new Usage();
    this.#usages.set(organization, usage);
    usage.namespaces = namespaces;
    usage.set(parseQuota(parseJson(quota) as ObjectValue), quota);
    return usage;
  }
}
