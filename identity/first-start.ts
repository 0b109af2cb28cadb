// The first start of an installation (resources-and-api.md 6.8): its two namespaces, its organization, its two admins.
// Several processes may start at once over one database, and any may die half-way: exactly one brings it to its end.
import { setTimeout as sleep } from 'node:timers/promises';
import { apiError } from '../model/errors/index.ts';
import { insertUser, normalName, requireUsername } from './accounts.ts';
import { type IdentityCollections, isDuplicateKey } from './documents.ts';
import type { PasswordHashing } from './hashing.ts';
import { createNamespace } from './new-namespace.ts';
import { generatePassword, requireStrong } from './passwords.ts';
import type { FirstStart, FirstStartOptions } from './types.ts';

/** Longer than the work takes (some 100 ms), shorter than patience. */
const ABANDONED_AFTER_MS = 20_000;

/**
 * Does what a new installation needs; nothing on later starts.
 * @throws user.name.invalid, user.password.weak, before anything is written
 */
export async function firstStart(
  collections: IdentityCollections,
  hashing: PasswordHashing,
  { adminUsername = 'admin', adminPassword, systemPassword }: FirstStartOptions,
  now: () => number,
): Promise<FirstStart> {
  const later = { isFirst: false, generated: [] };
  if ((await collections.installation.findOne({ _id: 'firstStart' }))?.state === 'done') return later;
  const admins = [
    { username: 'system', given: systemPassword },
    { username: normalName(adminUsername), given: adminPassword },
  ].map(({ username, given }) => ({ username, password: given ?? generatePassword(), generated: given === undefined }));
  for (const admin of admins) {
    requireUsername(admin.username);
    requireStrong(admin.password);
  }
  if (admins[1]!.username === 'system') throw apiError('cascade.user.name.invalid', 'users', 'username', 'system is the system admin');
  if (!(await isOurs(collections, now))) return later;
  await install(collections, hashing, admins[0]!, admins[1]!, new Date(now()));
  await collections.installation.updateOne({ _id: 'firstStart' }, { $set: { state: 'done' } });
  const generated = admins.filter((admin) => admin.generated).map(({ username, password }) => ({ username, password }));
  return { isFirst: true, generated };
}

/** Waits for another process that is at it; takes over from one that has died. @returns whether the work is this process's */
async function isOurs({ installation }: IdentityCollections, now: () => number): Promise<boolean> {
  for (;;) {
    try {
      await installation.insertOne({ _id: 'firstStart', state: 'running', startedAt: new Date(now()) });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const abandoned = { _id: 'firstStart', state: 'running', startedAt: { $lt: new Date(now() - ABANDONED_AFTER_MS) } } as const;
    const taken = await installation.updateOne(abandoned, { $set: { startedAt: new Date(now()) } });
    if (taken.modifiedCount === 1) return true;
    if ((await installation.findOne({ _id: 'firstStart' }))?.state === 'done') return false;
    await sleep(100);
  }
}

/** What a process that died here had written is written anew: nobody has been told its passwords. */
async function install(
  collections: IdentityCollections,
  hashing: PasswordHashing,
  system: { username: string; password: string },
  admin: { username: string; password: string },
  now: Date,
): Promise<void> {
  const { users, namespaces, organizations } = collections;
  await Promise.all([
    users.deleteMany({ $or: [{ system: true }, { installationAdmin: true }] }),
    namespaces.deleteMany({ namespace: { $in: ['system', 'main'] } }),
    organizations.deleteMany({ name: 'main' }),
  ]);
  const createdBy = system.username;
  await createNamespace(collections, hashing, { namespace: 'system', createdBy }, now);
  await createNamespace(collections, hashing, { namespace: 'main', organization: { name: 'main' }, createdBy }, now);
  const profiles = { system: ['admin', 'admin__system'], admin: ['admin', 'user__system'] };
  await insertUser(collections, hashing, { ...system, namespace: 'system', profiles: profiles.system, createdBy }, now, { system: true });
  await insertUser(collections, hashing, { ...admin, namespace: 'main', profiles: profiles.admin, createdBy }, now, {
    installationAdmin: true,
  });
}
