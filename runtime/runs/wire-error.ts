// An error on its way into or out of an isolate.

import { randomUUID } from 'node:crypto';
import { CascadeError } from '../../stdlib/errors.ts';
import type { WireError } from '../../stdlib/isolate/protocol.ts';
import { encodeInner, fromInner, type Value } from '../../stdlib/values/index.ts';
import { CascadeErrors, fault } from '../../model/errors/faults.ts';
import { isPassing } from '../../platform/mongo/index.ts';

/** What a program sees of an error of the host: of several problems the first, of one that goes by itself
 * that, of an unexpected one only a reference. */
export function toWireError(error: unknown): WireError {
  if (error instanceof CascadeErrors && error.errors[0]) return toWireError(error.errors[0]);
  if (!(error instanceof CascadeError))
    return toWireError(isPassing(error) ? fault('cascade.server.unavailable') : fault('cascade.server.error', randomUUID() as string));
  return {
    code: error.code,
    message: error.message,
    params: JSON.parse(encodeInner(error.params)) as unknown[],
    status: error.status,
  };
}

/** What a client or a caller sees of an error that left a program. */
export function fromWireError(error: Pick<WireError, 'code' | 'message' | 'params' | 'status'>): CascadeError {
  return new CascadeError(error.code, error.message, fromInner(error.params) as Value[], error.status);
}
