// The single place where an error becomes a reply: a refusal as it is, anything else as a 500 without details (resources-and-api.md 10).
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { CascadeError, CascadeErrors, type ErrorDocument, errorDocument, apiError, retryAfterSeconds } from '../../model/errors/index.ts';
import { isRetryable } from '../../platform/mongo/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { Engine, Identity } from '../../resources/api.ts';
import type { HttpReply } from './types.ts';

/** @param error anything that was thrown; if it is not a refusal, it is logged under the reference that the client gets */
export function errorReply(error: unknown, log: Logger): HttpReply {
  if (error instanceof CascadeErrors) return reply(error.status, error.errors.map(errorDocument), error.errors[0]);
  if (error instanceof CascadeError) return reply(error.status, [errorDocument(error)], error);
  if (isRetryable(error)) return errorReply(apiError('cascade.server.unavailable'), log);
  const reference = randomUUID();
  log.error({ err: error, reference }, 'a request failed with an unexpected error');
  const unexpected = apiError('cascade.server.error', reference);
  return reply(unexpected.status, [errorDocument(unexpected)], unexpected);
}

/**
 * A request that could not be read: it counts like others, and the quota is told of first.
 * @throws cascade.quota.exceeded, else the error
 */
export async function countedRefusal(engine: Pick<Engine, 'count'>, identity: Identity, error: unknown): Promise<never> {
  if (error instanceof CascadeError && error.status < 500) await engine.count(identity);
  throw error;
}

function reply(status: number, documents: ErrorDocument[], first: CascadeError | undefined): HttpReply {
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="cascade"'; // never Basic: no browser pop-up
  const seconds = first && retryAfterSeconds(first);
  if (seconds) headers['Retry-After'] = String(seconds);
  return { status, headers, body: toJson(documents.map(({ code, message, params }) => ({ code, message, params }))) };
}
