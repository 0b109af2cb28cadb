// Converts the failure of a node to the error object of a statement (integrations.md 11.6).
import { CascadeError, CascadeErrors, apiError } from '../../model/errors/index.ts';
import { EgressError } from '../../platform/egress/index.ts';
import { HttpFailure } from '../sources/index.ts';

/** Maps the failure of a connection to the codes of 11.6; a CascadeError stays unchanged. */
export function failureOf(node: string, error: unknown): CascadeError {
  if (error instanceof CascadeError) return error;
  if (error instanceof CascadeErrors && error.errors[0]) return error.errors[0];
  if (error instanceof HttpFailure && (error.kind === 'malformed' || error.kind === 'too large'))
    return apiError('cascade.federation.protocol', node, error.message);
  if (error instanceof HttpFailure || error instanceof EgressError) return apiError('cascade.federation.unreachable', node, error.message);
  return apiError('cascade.federation.protocol', node, 'its answer could not be taken');
}

/** Whether a retry with the same request id may succeed: there was no answer, or a transient error (11.8). */
export const isTransient = ({ code, status }: CascadeError): boolean =>
  code === 'cascade.federation.unreachable' || code === 'io.service.federation.request.timeout' || status >= 500 || status === 429;
