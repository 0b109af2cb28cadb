// The rights that users have now, in memory: code that runs as somebody who is not there to log in has these (resources-and-api.md 7.6), and
// every run asks for them when it begins.
import type { Identity } from './types.ts';
import { type BoundedCache, boundedCache, type MaybePromise } from '../platform/structures/index.ts';
import { normalName, profilesIn } from './accounts.ts';
import type { IdentityCollections } from './documents.ts';
import { identityOf } from './sessions.ts';

/** Null for a user who is gone, inactive or without business in the namespace. */
export type RightsOf = (username: string, namespace: string) => MaybePromise<Identity | null>;

interface Known {
  readonly identity: Identity | null;
}

export class Rights {
  readonly #collections: IdentityCollections;
  /** By namespace and name. */
  readonly #known: BoundedCache<string, Known>;
  readonly #reading = new Map<string, Promise<Identity | null>>();
  readonly #rememberedMs: number;

  /** @param rememberedMs how long a change by another process may go unnoticed; 0: there is none */
  constructor(collections: IdentityCollections, rememberedMs: number) {
    this.#collections = collections;
    this.#rememberedMs = rememberedMs;
    this.#known = boundedCache<string, Known>(20_000, rememberedMs);
  }

  of(username: string, namespace: string): MaybePromise<Identity | null> {
    const key = `${namespace} ${username}`;
    const known = this.#known.get(key);
    if (!known) return this.#readShared(key, username, namespace);
    // Who acts all the time is read again before it is forgotten, so that no run has to wait for it.
    if (this.#rememberedMs > 0 && this.#known.getRemainingTTL(key) < this.#rememberedMs / 2)
      this.#readShared(key, username, namespace).catch(() => undefined);
    return known.identity;
  }

  /** To be called after each write by which somebody has other rights. */
  forget(): void {
    this.#known.clear();
    this.#reading.clear(); // who asks from now on must not be told what was read before
  }

  #readShared(key: string, username: string, namespace: string): Promise<Identity | null> {
    const reading = this.#reading.get(key);
    if (reading) return reading;
    const began = this.#read(username, namespace).then((identity) => {
      if (this.#reading.get(key) === began) this.#known.set(key, { identity });
      return identity;
    });
    this.#reading.set(key, began);
    began.finally(() => this.#reading.get(key) === began && this.#reading.delete(key)).catch(() => undefined);
    return began;
  }

  async #read(name: string, namespace: string): Promise<Identity | null> {
    const username = normalName(name);
    const user = await this.#collections.users.findOne({ username });
    const profiles = user?.active ? profilesIn(user, namespace) : null;
    return user && profiles && identityOf(user, namespace, profiles);
  }
}

/** Who one is, as programs and clients see it: profiles with the namespace that they are of. */
export const namespaceAndProfiles = ({ namespace, profiles }: Identity): { namespace: string; profiles: string[] } => ({
  namespace,
  profiles: profiles.map((profile) => `${namespace}.${profile}`),
});
