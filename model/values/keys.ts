// Names of members as they are stored. Every name that a client may send has a stored form, and none of them means anything to MongoDB or
// its driver: `$…` (operators; refused inside `$in`), `_bsontype` (the driver takes such an object for one of its own), U+0000 (ends a name).
// Dots, empty names and `__proto__` survive as they are (tried against mongod 6.0: insert, replace, $set, bulkWrite, $eq, $in).

const MARK = '\u0001';

export function escapeKey(key: string): string {
  const first = key.charCodeAt(0);
  if (first !== 36 && first !== 1 && key !== '_bsontype' && !key.includes('\0')) return key;
  return MARK + key.replaceAll(MARK, `${MARK}1`).replaceAll('\0', `${MARK}0`);
}

export function unescapeKey(stored: string): string {
  if (stored.charCodeAt(0) !== 1) return stored;
  return stored.slice(1).replaceAll(`${MARK}0`, '\0').replaceAll(`${MARK}1`, MARK);
}
