// Finds the databases of an organization's namespaces.
import type { Db } from 'mongodb';

/** The databases of namespaces of the organization, this one's among them. */
export function databasesIn(
  { name, storage: { db } }: { readonly name: string; readonly storage: { readonly db: Db } },
  namespaces: readonly string[],
): Db[] {
  const prefix = db.databaseName.slice(0, -name.length);
  return [...new Set([...namespaces, name])].map((one) => db.client.db(prefix + one));
}
