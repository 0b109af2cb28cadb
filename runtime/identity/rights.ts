// The rights that a user has now: code that runs as somebody who is not there to log in has these (resources-and-api.md 7.6).
import type { Db } from 'mongodb';
import type { Identity } from '../api.ts';
import { normalName, profilesIn } from './accounts.ts';
import { collectionsOf } from './documents.ts';
import { identityOf } from './sessions.ts';

/** Null for a user who is gone, inactive or without business in the namespace. */
export type RightsOf = (username: string, namespace: string) => Promise<Identity | null>;

/** @param db the installation's */
export function rightsIn(db: Db): RightsOf {
  const { users } = collectionsOf(db);
  return async (username, namespace) => {
    const user = await users.findOne({ username: normalName(username) });
    const profiles = user?.active ? profilesIn(user, namespace) : null;
    return user && profiles && identityOf(user, namespace, profiles);
  };
}
