// A backup of one namespace as records: a head, what is stored row by row, and an end that tells how many there were. In a file each record is a
// line of JSON, and all of it is packed by gzip; over the API they are the elements of an array. Pure; the command line reads and writes it, too.

/** Of the form of records and of what is stored in them. */
export const FORMAT = 1;

export interface Head {
  readonly cascade: 'backup';
  readonly format: number;
  /** Version of the service that made it. */
  readonly service: string;
  readonly namespace: string;
  /** ISO time: it has what was stored then. */
  readonly at: string;
  /** `ars_properties` of the namespace, as JSON. */
  readonly properties: string | null;
  /** Sealed with the backup's key, base64: it opens with the same key only. Null: nothing in it is sealed. */
  readonly check: string | null;
  /** How the key is made of a passphrase; the command line's. */
  readonly passphrase?: Stretching;
}

export interface Stretching {
  /** Base64. */
  readonly salt: string;
  /** Cost of scrypt. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** One document as it is stored: canonical extended JSON, so that each value keeps its type. */
export interface Row {
  readonly in: string;
  readonly row: unknown;
}

export type Last = { readonly end: { readonly rows: number } } | { readonly error: { readonly code: string; readonly message: string } };

export type BackupRecord = Head | Row | Last;

export const isHead = (record: unknown): record is Head =>
  isObject(record) && record['cascade'] === 'backup' && Number.isSafeInteger(record['format']);

export const isRow = (record: unknown): record is Row => isObject(record) && typeof record['in'] === 'string' && isObject(record['row']);

export const isLast = (record: unknown): record is Last => isObject(record) && (isObject(record['end']) || isObject(record['error']));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
