// Why a node gave no result, as the error object of a statement (integrations.md 11.6).
import { CascadeError, CascadeErrors, apiError } from '../../model/errors/index.ts';
import { EgressError } from '../../platform/egress/index.ts';
import { HttpFailure } from '../sources/index.ts';

/** What the connection failed with, in the codes of 11.6; a CascadeError stays as it is. */
export function failureOf(node: string, error: unknown): CascadeError {
  if (error instanceof CascadeError) return error;
  if (error instanceof CascadeErrors && error.errors[0]) return error.errors[0];
  if (error instanceof HttpFailure && (error.kind === 'malformed' || error.kind === 'too large'))
    return apiError('cascade.federation.protocol', node, error.message);
  if (error instanceof HttpFailure || error instanceof EgressError) return apiError('cascade.federation.unreachable', node, error.message);
  return apiError('cascade.federation.protocol', node, 'its answer could not be taken');
}

/** Whether a repetition may help, with the same request id: no answer, or one that tells of a trouble that passes (11.8). */
export const mayPass = ({ code, status }: CascadeError): boolean =>
  code === 'cascade.federation.unreachable' || code === 'io.service.federation.request.timeout' || status >= 500 || status === 429;
