// Classifies errors of the store.

import { type Document, MongoBulkWriteError, MongoError, MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { apiError, type CascadeError } from '../../model/errors/index.ts';

/** The server is out of reach or changing: a retry may succeed, and the outcome may be unknown. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  // The driver wraps what broke the connection of a bulk write in an error without any write's own.
  (error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0) ||
  error instanceof MongoServerSelectionError ||
  (error instanceof MongoError &&
    (error.hasErrorLabel('UnknownTransactionCommitResult') ||
      error.name === 'MongoPoolClearedError' ||
      error.name === 'MongoExpiredSessionError' ||
      isChanging(error)));

/**
 * The codes of a server that is stepping down, stopping, or has begun anew: it has nothing that a majority holds yet, or lacks the cursors
 * of before.
 */
const CHANGING = new Set([91, 189, 10107, 11600, 11602, 13435, 13436, 134, 43]);
const isChanging = (error: MongoError): boolean => typeof error.code === 'number' && CHANGING.has(error.code);

/** This process is stopping and has closed its connections. */
export const isClosed = (error: unknown): boolean =>
  error instanceof MongoError && (error.name === 'MongoNotConnectedError' || error.name === 'MongoClientClosedError');

/** A write conflict with another transaction: a retry may succeed. */
export const isWriteConflict = (error: unknown): boolean => error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');

/** A transaction met a collection that is being changed (an index built): no lock in time, or no snapshot from before. */
const LOCKED_OUT = new Set<unknown>([24, 246]);
export const isLockedOut = (error: unknown): boolean => error instanceof MongoServerError && LOCKED_OUT.has(error.code);

/** From here on codes name assertions, most of them about what was asked. */
const FIRST_ASSERTION = 10_000;
/** Of these: Interrupted, OutOfDiskSpace. */
const TROUBLED_ASSERTIONS = new Set([11601, 14031]);
/**
 * What the server says of the request or of the account: BadValue, Unauthorized, MaxTimeMSExpired, a sort that takes too much memory and
 * the like.
 */
const OF_REQUEST = new Set([
  2, 4, 5, 9, 13, 14, 15, 16, 17, 18, 20, 22, 26, 27, 28, 29, 30, 31, 34, 38, 40, 42, 48, 50, 52, 53, 54, 56, 57, 59, 60, 66, 67, 68, 72,
  73, 85, 86, 115, 121, 146, 166, 167, 168, 171, 197, 224, 229, 238, 241, 263, 292, 301,
]);

/**
 * The server's own trouble under any code: a full disk (UnknownError, OutOfDiskSpace), no signing keys in the first second after its start
 * (KeyNotFound), killOp (Interrupted). Codes that blame the request are listed, since those of the server cannot be.
 */
const isTroubled = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  typeof error.code === 'number' &&
  (error.code < FIRST_ASSERTION ? !OF_REQUEST.has(error.code) : TROUBLED_ASSERTIONS.has(error.code));

/** A transient error: work that is acknowledged already is retried until it succeeds. */
export const isRetryable = (error: unknown): boolean =>
  isUnavailable(error) || isWriteConflict(error) || isLockedOut(error) || isTroubled(error);

const TIME_IS_UP = 50;

/** Maps an error of a query: exceeded time becomes "too expensive", any other stays as it is. */
export const asTooExpensive = (error: unknown): unknown =>
  error instanceof MongoServerError && error.code === TIME_IS_UP ? apiError('cascade.query.too.expensive', 'time') : error;

const BAD_VALUE = 2;

/** Of a condition, whose operators have been checked: what the store alone can tell is whether a shape crosses itself. */
export function asRefused(error: unknown, filter: Document): unknown {
  if (!(error instanceof MongoServerError) || error.code !== BAD_VALUE) return asTooExpensive(error);
  return asRefusedShape(error, filter) ?? apiError('cascade.query.operand.invalid', '', 'where');
}

/**
 * The refusal of a shape, told by the path and operator that it is the operand of.
 * @param query a filter, or the stages of a pipeline
 * @returns null where the store says no such thing
 */
export function asRefusedShape(error: unknown, query: Document): CascadeError | null {
  if (!(error instanceof MongoServerError) || error.code !== BAD_VALUE) return null;
  const shapes = [...shapesIn(query)];
  const refused = positionsIn(error.message);
  const meant = shapes.find(({ geometry }) => refused !== null && JSON.stringify(geometry).includes(refused)) ?? shapes[0];
  return meant ? apiError('cascade.query.operand.invalid', meant.path, meant.operator) : null;
}

/** The ring or line that a message of the store shows, as JSON has its numbers: `[ [ 0.1, 0.0 ], … ]` is `[[0.1,0],…]`. */
const positionsIn = (message: string): string | null =>
  /\[ \[[-\d., e[\]+]*?\] \]/
    .exec(message)?.[0]
    .replaceAll(' ', '')
    .replaceAll(/-?\d[-\d.e+]*/g, (number) => String(Number(number))) ?? null;

interface Shape {
  readonly path: string;
  readonly operator: string;
  readonly geometry: unknown;
}

function* shapesIn(query: unknown, path = ''): Iterable<Shape> {
  if (typeof query !== 'object' || query === null) return;
  for (const [name, operand] of Object.entries(query) as [string, unknown][]) {
    const geometry = name.startsWith('$') && typeof operand === 'object' ? (operand as Document | null)?.['$geometry'] : undefined;
    if (geometry !== undefined) yield { path, operator: name, geometry };
    else yield* shapesIn(operand, name.startsWith('$') || Array.isArray(query) ? path : name);
  }
}

/** What a query with a time limit gives. @throws cascade.query.too.expensive when its time is up, cascade.query.operand.invalid */
export async function inTime<T>(query: Promise<T>, filter: Document): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw asRefused(error, filter);
  }
}
