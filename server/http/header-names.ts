// The headers of requests and replies: every header that is read or sent has its name here, so that scripts of other origins (CORS) may use
// exactly these.

/** Headers of the API that a client sets itself. */
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

/** Headers that a browser sets or a proxy adds. */
type ForeignHeader = 'accept' | 'accept-encoding' | 'forwarded' | 'host' | 'if-range' | 'origin' | 'range' | 'via' | 'x-forwarded-for';

/** Headers that another installation sets, never a script. */
export type FederationHeader = 'x-cascade-federation' | 'x-cascade-deadline-ms' | 'x-cascade-hop' | 'x-cascade-values';

export type RequestHeader = Lowercase<(typeof REQUEST_HEADERS)[number]> | ForeignHeader | FederationHeader;

/** Headers of a reply about its result; a script may read them. */
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

/** Headers about how a page may be used: for the browser, not for scripts. */
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
