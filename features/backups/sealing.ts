// Values that are sealed with a namespace's key are sealed in its backup with a key that the user supplies, and again with the key of the
// namespace that the backup is restored into: they are never stored unencrypted.
import { Binary, type Document } from 'mongodb';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import { open, seal } from '../../platform/keys/index.ts';
import type { DefinitionResource } from '../../resources/catalog/index.ts';

const CHECKED = 'a backup of Cascade';
const CHECK_PLACE = 'backup check';
const KEY_BYTES = 32;

/** The key in a request: 64 hexadecimal digits; null: absent. @throws backup.key.invalid */
export function keyOf(text: string | null): Buffer | null {
  if (text === null) return null;
  if (!/^[0-9a-f]{64}$/i.test(text)) throw apiError('cascade.backup.key.invalid', `it has no ${KEY_BYTES} bytes in hexadecimal digits`);
  return Buffer.from(text, 'hex');
}

export const checkOf = (key: Uint8Array): string => seal(key, CHECK_PLACE, Buffer.from(CHECKED)).toString('base64');

/** @throws backup.key.required, backup.key.invalid */
export function requireKey(check: string | null, key: Uint8Array | null, namespace: string): void {
  if (check === null) return;
  if (!key) throw apiError('cascade.backup.key.required', namespace);
  try {
    if (open(key, CHECK_PLACE, Buffer.from(check, 'base64')).toString() === CHECKED) return;
  } catch {
    // another key, or a changed check: the error is the same
  }
  throw apiError('cascade.backup.key.invalid', 'it is not the one that the backup was made with');
}

/** The cipher of a backup, like that of a namespace. */
export const backupCipher = (key: Uint8Array): Pick<Cipher, 'seal' | 'open'> => ({
  seal: (text, place) => seal(key, `backup ${place}`, Buffer.from(text)),
  open: (sealed, place) => open(key, `backup ${place}`, sealed).toString(),
});

/** A change of keys: one cipher opens, the other seals. */
export interface Resealing {
  readonly from: Pick<Cipher, 'open'>;
  readonly to: Pick<Cipher, 'seal'>;
}

/** Reseals the encrypted properties of a document. */
export function resealedRow(document: Document, encrypted: ReadonlySet<string>, { from, to }: Resealing): void {
  for (const property of encrypted) {
    const value: unknown = document[property];
    if (value instanceof Binary) document[property] = new Binary(to.seal(from.open(value.value(), property), property));
  }
}

/** Reseals the secrets of a definition. */
export const resealedDefinition = (kind: DefinitionResource | undefined, object: ObjectValue, { from, to }: Resealing): ObjectValue =>
  kind?.resealed?.(object, (text, place) =>
    Buffer.from(to.seal(from.open(Buffer.from(text, 'base64'), place), place)).toString('base64'),
  ) ?? object;

/** Whether a definition has secrets. */
export function isSealed(kind: DefinitionResource | undefined, object: ObjectValue): boolean {
  let found = false;
  kind?.resealed?.(object, (text) => {
    found = true;
    return text;
  });
  return found;
}
