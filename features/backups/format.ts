// The format of a namespace's backup: a head, one record per stored row, and an end with their number. In a file each record is a line of
// JSON, and the file is compressed by gzip; over the API records are the elements of an array. Pure: the command line reads and writes it,
// too.

/** Version of the format of records and their contents. */
export const FORMAT = 1;

export interface Head {
  readonly cascade: 'backup';
  readonly format: number;
  /** Version of the service that created the backup. */
  readonly service: string;
  readonly namespace: string;
  /** ISO time of the snapshot. */
  readonly at: string;
  /** `ars_properties` of the namespace, as JSON. */
  readonly properties: string | null;
  /** A known text sealed with the backup's key, base64, to recognize the key. Null: the backup has nothing sealed. */
  readonly check: string | null;
  /** How the command line derived the key from a passphrase. */
  readonly passphrase?: Stretching;
}

export interface Stretching {
  /** base64 */
  readonly salt: string;
  /** Cost of scrypt. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** A stored document as canonical extended JSON, which preserves the types of values. */
export interface Row {
  readonly in: string;
  readonly row: unknown;
}

export type Last = { readonly end: { readonly rows: number } } | { readonly error: { readonly code: string; readonly message: string } };

export type BackupRecord = Head | Row | Last;

/** A head of another format has other members: only its format is known. */
export const isHead = (record: unknown): record is Head =>
  isObject(record) &&
  record['cascade'] === 'backup' &&
  Number.isSafeInteger(record['format']) &&
  (record['format'] !== FORMAT || isOfThisFormat(record));

const isOfThisFormat = (head: Record<string, unknown>): boolean =>
  ['service', 'namespace', 'at'].every((name) => typeof head[name] === 'string') &&
  ['properties', 'check'].every((name) => head[name] === null || typeof head[name] === 'string') &&
  (head['passphrase'] === undefined || isStretching(head['passphrase']));

const isStretching = (given: unknown): boolean =>
  isObject(given) && typeof given['salt'] === 'string' && ['N', 'r', 'p'].every((name) => Number.isSafeInteger(given[name]));

export const isRow = (record: unknown): record is Row => isObject(record) && typeof record['in'] === 'string' && isObject(record['row']);

export const isLast = (record: unknown): record is Last => isObject(record) && (isObject(record['end']) || isObject(record['error']));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
