// What the store's errors mean for whoever asked it.

import { MongoBulkWriteError, MongoError, MongoNetworkError, MongoServerSelectionError } from 'mongodb';

/** The server is out of reach or changing: the same thing may work in a moment, and an outcome may be unknown. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  // The driver wraps what broke the connection of a bulk write in an error without any write's own.
  (error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0) ||
  error instanceof MongoServerSelectionError ||
  (error instanceof MongoError &&
    (error.hasErrorLabel('UnknownTransactionCommitResult') ||
      error.name === 'MongoPoolClearedError' ||
      error.name === 'MongoExpiredSessionError' ||
      isShutdown(error)));

/** The codes of a server that is stepping down or stopping. */
const SHUTDOWN = new Set([91, 189, 10107, 11600, 11602, 13435, 13436]);
const isShutdown = (error: MongoError): boolean => typeof error.code === 'number' && SHUTDOWN.has(error.code);

/** A conflict with another transaction: the same again may pass. */
export const isTransient = (error: unknown): boolean => error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');
