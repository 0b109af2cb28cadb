// The keys of the namespaces (resources-and-api.md 4.9, integrations.md 1): what a namespace was given as `encryptionKey`, else bytes of
// its own, sealed by the master key and kept with the installation. What is encrypted is so with keys that are derived from it, one for each
// purpose. A rotation begins an epoch: what is encrypted from then on is so with other keys, and what was stays as it is.
import { hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { Binary, type ClientSession, type Db } from 'mongodb';
import type { Cipher } from '../../model/types/index.ts';
import { masterKeyId } from './master-key.ts';
import { epochOf, LAST_EPOCH, open, seal } from './seal.ts';

const KEYS = 'encryptionKeys';

interface KeyDocument {
  /** The namespace. */
  readonly _id: string;
  readonly sealed: Binary;
  /** The id of the master key that it is sealed with; absent where it was made before there were ids. */
  readonly masterKey?: string;
  /** Of the epochs from 2 on. */
  readonly epochs?: readonly Binary[];
  /** Of an `encryptionKey`, from which the secret was stretched. */
  readonly salt?: Binary;
  readonly createdAt: Date;
}

/** The master key that opens a namespace's key is not the configured one: the operator has to supply it. */
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
    return sealedWith(masterKey, namespace, [secret]);
  };

  const cipherOf = async (namespace: string): Promise<Cipher | null> => {
    const found = await keys.findOne({ _id: namespace });
    if (!found) return null;
    if (!masterKey)
      throw new MasterKeyError(`namespace ${namespace} has encrypted properties: the master key is needed (CASCADE_MASTER_KEY)`);
    return cipherWith(namespace, secretsIn(found, masterKey));
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

/** @param secrets of the epochs, in order */
const sealedWith = (
  masterKey: Uint8Array,
  namespace: string,
  [first, ...further]: readonly Uint8Array[],
): Pick<KeyDocument, 'sealed' | 'masterKey' | 'epochs'> => ({
  sealed: new Binary(seal(masterKey, place(namespace), first as Uint8Array)),
  masterKey: masterKeyId(masterKey),
  ...(further.length > 0 && { epochs: further.map((secret, i) => new Binary(seal(masterKey, placeOf(namespace, i + 2), secret))) }),
});

const placeOf = (namespace: string, epoch: number): string => `${place(namespace)} epoch ${epoch}`;

/** Of the epochs, in order. @throws MasterKeyError */
function secretsIn({ _id, sealed, epochs = [], masterKey: sealedBy }: KeyDocument, masterKey: Uint8Array): Uint8Array[] {
  try {
    return [open(masterKey, place(_id), sealed.buffer), ...epochs.map((one, i) => open(masterKey, placeOf(_id, i + 2), one.buffer))];
  } catch {
    const which = sealedBy === undefined ? '' : `: that is ${sealedBy}, this is ${masterKeyId(masterKey)}`;
    throw new MasterKeyError(`the master key is not the one with which the key of namespace ${_id} was sealed${which}`);
  }
}

/**
 * Seals the keys of all namespaces with another master key, and begins an epoch with new ones in each: all of them, or none. Those that are
 * sealed with it already stay.
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
      for (const one of before)
        await keys.updateOne({ _id: one._id }, { $set: sealedWith(to, one._id, withNext(secretsIn(one, from))) }, { session });
      return before.length;
    }),
  );
}

const SALT_BYTES = 16;
/** As for passwords: who has the database and the master key still has to guess this dearly. */
const STRETCHING = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const scrypting: (secret: string, salt: Uint8Array, bytes: number, cost: typeof STRETCHING) => Promise<Buffer> = promisify(scrypt);
const stretched = (encryptionKey: string, salt: Uint8Array): Promise<Buffer> => scrypting(encryptionKey, salt, 32, STRETCHING);

/** The last epoch goes on when there can be no further one. */
const withNext = (secrets: readonly Uint8Array[]): readonly Uint8Array[] =>
  secrets.length < LAST_EPOCH ? [...secrets, randomBytes(32)] : secrets;

/**
 * Values are sealed for the namespace, the purpose and the place: one that is moved elsewhere cannot be opened. A type may be renamed.
 * @param secrets of the epochs, in order
 */
function cipherWith(namespace: string, secrets: readonly Uint8Array[]): Cipher {
  const keys = new Map<string, Buffer>();
  const keyOf = (info: string, secret: Uint8Array): Buffer => {
    let key = keys.get(info);
    if (!key) keys.set(info, (key = Buffer.from(hkdfSync('sha256', secret, '', info, 32))));
    return key;
  };
  const keyFor = (purpose: string, epoch: number): Buffer => {
    const secret = secrets[epoch - 1];
    if (!secret) throw new Error(`no key of epoch ${epoch} for namespace ${namespace}`);
    return keyOf(`cascade ${purpose} ${namespace} epoch ${epoch}`, secret);
  };
  const present = secrets.length;
  const placeIn = (purpose: string, where: string): string => `${namespace} ${purpose} ${where}`;
  return {
    seal: (inner, where, purpose = PROPERTY) => seal(keyFor(purpose, present), placeIn(purpose, where), Buffer.from(inner), present),
    open(sealed, where, purpose = PROPERTY) {
      const epoch = epochOf(sealed);
      if (epoch !== undefined) return open(keyFor(purpose, epoch), placeIn(purpose, where), sealed).toString('utf8');
      // Sealed by a version that had one key for everything, and texts of a purpose all in one place.
      const key = keyOf(`cascade property ${namespace}`, secrets[0] as Uint8Array);
      return open(key, `${namespace} ${purpose === PROPERTY ? where : purpose}`, sealed).toString('utf8');
    },
  };
}

const PROPERTY = 'property';
