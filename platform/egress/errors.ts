// Why an outgoing connection could not be made.
/** Why there is no connection. `refused`: the address may not be reached; `limit`: the namespace has too many; the others say what failed. */
export type EgressFailure = 'refused' | 'limit' | 'resolve' | 'connect' | 'timeout' | 'tls' | 'proxy';

export class EgressError extends Error {
  readonly failure: EgressFailure;
  /** Host or address that it was about. */
  readonly address: string;
  constructor(failure: EgressFailure, address: string, message: string) {
    super(message);
    this.name = 'EgressError';
    this.failure = failure;
    this.address = address;
  }
}

/** In words, without what the operating system calls it. */
export function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was closed';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'the host cannot be reached';
  if (code === 'ETIMEDOUT') return 'no connection in time';
  return typeof message === 'string' && message !== '' ? message : 'no connection';
}
