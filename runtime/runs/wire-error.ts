// Converts errors on their way into and out of an isolate.

import { randomUUID } from 'node:crypto';
import { CascadeError } from '../../stdlib/errors.ts';
import type { OneWireError, WireError } from '../../stdlib/isolate/index.ts';
import { encodeInner, fromInner, shownAll, type Value } from '../../stdlib/values/index.ts';
import { CascadeErrors, apiError } from '../../model/errors/index.ts';
import { RestartRun } from '../context/index.ts';
import { isRetryable } from '../../platform/mongo/index.ts';
import { Fenced } from '../transactions/index.ts';

/** Bound of the errors of one request that a program gets. */
const MOST_ERRORS = 1_000;

/**
 * The error that a program sees: the first of several, with a list of all; a transient one as unavailable; an unexpected one as a mere
 * reference.
 */
export function toWireError(error: unknown): WireError {
  if (error instanceof CascadeErrors && error.errors[0])
    return { ...oneToWire(error.errors[0]), errors: error.errors.slice(0, MOST_ERRORS).map(oneToWire) };
  if (!(error instanceof CascadeError))
    return toWireError(
      isRetryable(error) || error instanceof RestartRun || error instanceof Fenced
        ? apiError('cascade.server.unavailable')
        : apiError('cascade.server.error', randomUUID() as string),
    );
  return { ...oneToWire(error), ...(error.errors && { errors: error.errors.map(oneToWire) }) };
}

const oneToWire = ({ code, message, params, status }: CascadeError): OneWireError => ({
  code,
  message,
  params: JSON.parse(encodeInner(shownAll(params))) as unknown[],
  status,
});

/** The error that a client or caller gets when it escapes from a program. */
export function fromWireError({ code, message, params, status, errors }: WireError): CascadeError | CascadeErrors {
  const all = errors?.map(oneOf) ?? null;
  if (all && all.length > 1) return new CascadeErrors(all);
  return new CascadeError(code, message, fromInner(params) as Value[], status, all);
}

const oneOf = ({ code, message, params, status }: OneWireError): CascadeError =>
  new CascadeError(code, message, fromInner(params) as Value[], status);
