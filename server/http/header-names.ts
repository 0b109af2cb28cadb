// The headers that requests and replies may have: what is read of a request and said in a reply has its name here, so that scripts of other
// origins (CORS) may send and read just these.

/** Those of the API that a client sets itself. */
export const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Content-Encoding',
  'X-Target-Namespace',
  'X-Request-Id',
  'X-Cascade-Request-Id',
  'If-Match',
  'If-None-Match',
] as const;

/** Those that are read, and that a browser sets or a proxy adds. */
type ForeignHeader = 'accept' | 'accept-encoding' | 'forwarded' | 'host' | 'if-range' | 'origin' | 'range' | 'via' | 'x-forwarded-for';

/** Those that another installation sets, which no script is. */
export type FederationHeader = 'x-cascade-federation' | 'x-cascade-deadline-ms' | 'x-cascade-hop' | 'x-cascade-values';

export type RequestHeader = Lowercase<(typeof REQUEST_HEADERS)[number]> | ForeignHeader | FederationHeader;

/** Those of a reply that tell of its result; a script may read them. */
export const REPLY_HEADERS = [
  'X-Total-Count',
  'X-Partial-Result',
  'X-Result-Truncated',
  'X-Request-Id',
  'ETag',
  'Retry-After',
  'Allow',
  'WWW-Authenticate',
] as const;

/** Those that say how a page may be used: for the browser, not for scripts. */
type PageHeader =
  | 'Accept-Ranges'
  | 'Cache-Control'
  | 'Content-Disposition'
  | 'Content-Encoding'
  | 'Content-Range'
  | 'Content-Security-Policy'
  | 'Cross-Origin-Opener-Policy'
  | 'Cross-Origin-Resource-Policy'
  | 'Permissions-Policy'
  | 'Service-Worker-Allowed'
  | 'Vary';

export type ReplyHeader = (typeof REPLY_HEADERS)[number] | PageHeader;
