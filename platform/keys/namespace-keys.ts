// The keys of the namespaces (resources-and-api.md 4.9, integrations.md 1): what a namespace was given as `encryptionKey`, else bytes of
// its own, sealed by the master key and kept with the installation. Properties are encrypted with a key that is derived from it.
import { hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { Binary, type ClientSession, type Db } from 'mongodb';
import type { Cipher } from '../../model/values/index.ts';
import { masterKeyId } from './master-key.ts';
import { open, seal } from './seal.ts';

const KEYS = 'encryptionKeys';

interface KeyDocument {
  /** The namespace. */
  readonly _id: string;
  readonly sealed: Binary;
  /** The id of the master key that it is sealed with; absent where it was made before there were ids. */
  readonly masterKey?: string;
  /** Of an `encryptionKey`, from which the secret was stretched. */
  readonly salt?: Binary;
  readonly createdAt: Date;
}

/** A namespace has a key, and the master key that opens it is not here: whoever runs the service has to give it. */
export class MasterKeyError extends Error {}

export interface NamespaceKeys {
  /** False: no master key was given, and nothing can be encrypted. */
  readonly areAvailable: boolean;
  /** The cipher of a namespace that has a key; null while it has none. @throws MasterKeyError */
  cipherOf(namespace: string): Promise<Cipher | null>;
  /** The same, with a key made where there is none. */
  ensureCipher(namespace: string): Promise<Cipher>;
  /** Gives a namespace the key that its creator chose, in the transaction that makes the namespace: one that is left from before is not its. */
  give(namespace: string, encryptionKey: string, session: ClientSession): Promise<void>;
}

/** @param db the installation's; @param masterKey null: none was given */
export function openNamespaceKeys(db: Db, masterKey: Uint8Array | null): NamespaceKeys {
  const keys = db.collection<KeyDocument>(KEYS);
  const sealedFor = (namespace: string, secret: Uint8Array): Pick<KeyDocument, 'sealed' | 'masterKey'> => {
    if (!masterKey) throw new Error('there is no master key');
    return sealedWith(masterKey, namespace, secret);
  };

  const cipherOf = async (namespace: string): Promise<Cipher | null> => {
    const found = await keys.findOne({ _id: namespace });
    if (!found) return null;
    if (!masterKey)
      throw new MasterKeyError(`namespace ${namespace} has encrypted properties: the master key is needed (CASCADE_MASTER_KEY)`);
    return propertyCipher(namespace, secretIn(found, masterKey));
  };

  return {
    areAvailable: masterKey !== null,
    cipherOf,
    async ensureCipher(namespace) {
      const known = await cipherOf(namespace);
      if (known) return known;
      const $setOnInsert = { ...sealedFor(namespace, randomBytes(32)), createdAt: new Date() };
      await keys.updateOne({ _id: namespace }, { $setOnInsert }, { upsert: true });
      return (await cipherOf(namespace)) as Cipher;
    },
    async give(namespace, encryptionKey, session) {
      const salt = randomBytes(SALT_BYTES);
      const secret = await stretched(encryptionKey.normalize('NFC'), salt);
      const document = { ...sealedFor(namespace, secret), salt: new Binary(salt), createdAt: new Date() };
      await keys.replaceOne({ _id: namespace }, document, { upsert: true, session });
    },
  };
}

const place = (namespace: string): string => `namespace ${namespace}`;

const sealedWith = (masterKey: Uint8Array, namespace: string, secret: Uint8Array): Pick<KeyDocument, 'sealed' | 'masterKey'> => ({
  sealed: new Binary(seal(masterKey, place(namespace), secret)),
  masterKey: masterKeyId(masterKey),
});

/** @throws MasterKeyError */
function secretIn({ _id, sealed, masterKey: sealedBy }: KeyDocument, masterKey: Uint8Array): Uint8Array {
  try {
    return open(masterKey, place(_id), sealed.buffer);
  } catch {
    const which = sealedBy === undefined ? '' : `: that is ${sealedBy}, this is ${masterKeyId(masterKey)}`;
    throw new MasterKeyError(`the master key is not the one with which the key of namespace ${_id} was sealed${which}`);
  }
}

/**
 * Seals the keys of all namespaces with another master key: all of them, or none. Those that are sealed with it already stay.
 * @param db the installation's
 * @returns how many were sealed again
 * @throws MasterKeyError: one of them opens with neither
 */
export async function changeMasterKey(db: Db, from: Uint8Array, to: Uint8Array): Promise<number> {
  const keys = db.collection<KeyDocument>(KEYS);
  const next = masterKeyId(to);
  return db.client.withSession((session) =>
    session.withTransaction(async () => {
      const before = await keys.find({ masterKey: { $ne: next } }, { session }).toArray();
      for (const one of before) await keys.updateOne({ _id: one._id }, { $set: sealedWith(to, one._id, secretIn(one, from)) }, { session });
      return before.length;
    }),
  );
}

const SALT_BYTES = 16;
/** As for passwords: who has the database and the master key still has to guess this dearly. */
const STRETCHING = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const scrypting: (secret: string, salt: Uint8Array, bytes: number, cost: typeof STRETCHING) => Promise<Buffer> = promisify(scrypt);
const stretched = (encryptionKey: string, salt: Uint8Array): Promise<Buffer> => scrypting(encryptionKey, salt, 32, STRETCHING);

/** Values are sealed for the namespace and the property: one that is moved elsewhere cannot be opened. A type may be renamed. */
function propertyCipher(namespace: string, secret: Uint8Array): Cipher {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `cascade property ${namespace}`, 32));
  const place = (property: string): string => `${namespace} ${property}`;
  return {
    seal: (inner, property) => seal(key, place(property), Buffer.from(inner)),
    open: (sealed, property) => open(key, place(property), sealed).toString('utf8'),
  };
}
