// Caches the quotas of all organizations in this process: they are read on first use, and again after a change or a while, since another
// process may have changed them.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { parseQuota } from './quota.ts';
import { Usage } from './usage.ts';

/** Age at which a cached quota is read again, in milliseconds: the longest time that another process's change goes unnoticed. */
const REMEMBERED_MS = 2_000;
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

  constructor(read: (namespace: string) => Promise<GivenQuota | null>) {
    this.#read = read;
  }

  /**
   * The usage and quota for a namespace; null: unlimited. A cached answer is given at once, and refreshed in the background when it is old.
   */
  of(namespace: string): MaybePromise<Usage | null> {
    if (namespace === EXEMPT) return null;
    const known = this.#known.get(namespace);
    if (!known) return this.#readShared(namespace);
    if (performance.now() - known.at > REMEMBERED_MS) this.#readShared(namespace).catch(() => undefined); // the cached quota holds meanwhile
    return known.usage;
  }

  /** The cached quota, for synchronous callers. */
  known(namespace: string): Usage | null {
    const asked = this.of(namespace);
    if (!(asked instanceof Promise)) return asked;
    asked.catch(() => undefined);
    return null;
  }

  /** Empties the cache. Called after each change of an organization or of its namespaces. */
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
    const began = this.#read(namespace).then((given) => {
      const usage = given && this.#usageOf(given);
      if (this.#reading.get(namespace) === began) this.#known.set(namespace, { usage, at: performance.now() });
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
