// Where the data of an organization's namespaces are.
import type { Db } from 'mongodb';

/** The databases of namespaces of the organization, this one's among them. */
export function databasesIn(space: { readonly db: Db; readonly name: string }, namespaces: readonly string[]): Db[] {
  const prefix = space.db.databaseName.slice(0, -space.name.length);
  return [...new Set([...namespaces, space.name])].map((name) => space.db.client.db(prefix + name));
}
