// The keys of the namespaces (resources-and-api.md 4.9, integrations.md 1): what a namespace was given as `encryptionKey`, else bytes of
// its own, sealed by the master key and kept with the installation. Properties are encrypted with a key that is derived from it.
import { hkdfSync, randomBytes } from 'node:crypto';
import { Binary, type ClientSession, type Db } from 'mongodb';
import type { Cipher } from '../../model/values/index.ts';
import { open, seal } from './seal.ts';

interface KeyDocument {
  /** The namespace. */
  readonly _id: string;
  readonly sealed: Binary;
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
  const keys = db.collection<KeyDocument>('encryptionKeys');
  const place = (namespace: string): string => `namespace ${namespace}`;

  const sealedFor = (namespace: string, secret: Uint8Array): Binary => {
    if (!masterKey) throw new Error('there is no master key');
    return new Binary(seal(masterKey, place(namespace), secret));
  };

  const cipherOf = async (namespace: string): Promise<Cipher | null> => {
    const found = await keys.findOne({ _id: namespace });
    if (!found) return null;
    if (!masterKey)
      throw new MasterKeyError(`namespace ${namespace} has encrypted properties: the master key is needed (CASCADE_MASTER_KEY)`);
    let secret: Uint8Array;
    try {
      secret = open(masterKey, place(namespace), found.sealed.buffer);
    } catch {
      throw new MasterKeyError(`the master key is not the one with which the key of namespace ${namespace} was sealed`);
    }
    return propertyCipher(namespace, secret);
  };

  return {
    areAvailable: masterKey !== null,
    cipherOf,
    async ensureCipher(namespace) {
      const known = await cipherOf(namespace);
      if (known) return known;
      const $setOnInsert = { sealed: sealedFor(namespace, randomBytes(32)), createdAt: new Date() };
      await keys.updateOne({ _id: namespace }, { $setOnInsert }, { upsert: true });
      return (await cipherOf(namespace)) as Cipher;
    },
    async give(namespace, encryptionKey, session) {
      const document = { sealed: sealedFor(namespace, Buffer.from(encryptionKey)), createdAt: new Date() };
      await keys.replaceOne({ _id: namespace }, document, { upsert: true, session });
    },
  };
}

/** Values are sealed for the namespace and the property: one that is moved elsewhere cannot be opened. A type may be renamed. */
function propertyCipher(namespace: string, secret: Uint8Array): Cipher {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `cascade property ${namespace}`, 32));
  const place = (property: string): string => `${namespace} ${property}`;
  return {
    seal: (inner, property) => seal(key, place(property), Buffer.from(inner)),
    open: (sealed, property) => open(key, place(property), sealed).toString('utf8'),
  };
}
