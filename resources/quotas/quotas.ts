// The quotas of all organizations as this process knows them: read when they are first asked for, and again after a change or a while, since
// another process may have changed them.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { parseQuota } from './quota.ts';
import { Usage } from './usage.ts';

/** So long a change by another process may go unnoticed. */
const REMEMBERED_MS = 2_000;
/** The namespace of the installation itself is under no quota (9.1). */
const EXEMPT = 'system';

/** What a namespace's organization has been given; null: the namespace has none. */
export interface GivenQuota {
  readonly organization: string;
  /** JSON. */
  readonly quota: string;
  readonly namespaces: readonly string[];
}

export class Quotas {
  readonly #read: (namespace: string) => Promise<GivenQuota | null>;
  /** By organization. */
  readonly #usages = new Map<string, Usage>();
  /** By namespace. */
  readonly #known = new Map<string, { readonly usage: Usage | null; readonly at: number }>();
  readonly #reading = new Map<string, Promise<Usage | null>>();

  constructor(read: (namespace: string) => Promise<GivenQuota | null>) {
    this.#read = read;
  }

  /** What limits a namespace; null: nothing. What is known is answered at once, and read again behind it when it is old. */
  of(namespace: string): MaybePromise<Usage | null> {
    if (namespace === EXEMPT) return null;
    const known = this.#known.get(namespace);
    if (!known) return this.#readShared(namespace);
    if (performance.now() - known.at > REMEMBERED_MS) this.#readShared(namespace).catch(() => undefined); // what is known holds until it can be read
    return known.usage;
  }

  /** The quota as known in memory, for synchronous callers. */
  known(namespace: string): Usage | null {
    const asked = this.of(namespace);
    if (!(asked instanceof Promise)) return asked;
    asked.catch(() => undefined);
    return null;
  }

  /** To be called after each change of an organization, and of which namespaces it has. */
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
