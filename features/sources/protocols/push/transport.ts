// The interface between a source and a push service: a note is sent to one device, with one of four outcomes. A new service is a file
// beside this one and an entry in connection.ts.

/** What the device shows, and the data that its application gets. */
export interface PushNote {
  readonly title: string;
  readonly body: string;
  /** Texts with which the application fetches the message. */
  readonly data: Readonly<Record<string, string>>;
}

export type TransportName = 'fcm' | 'apns' | 'webpush';

/** dead: the device no longer exists. again: a later attempt may succeed. */
export type PushOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'dead' | 'failed'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string; readonly afterMs: number | null };

export interface PushTransport {
  readonly name: TransportName;
  /** Never throws. @param token what the device was registered with */
  send(token: string, note: PushNote): Promise<PushOutcome>;
  close(): Promise<void>;
}

export const SENT: PushOutcome = { kind: 'sent' };

/** How long a service asks to wait (RFC 9110 10.2.3: seconds, or a date); null: it does not say. */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^\d{1,7}$/.test(text.trim())) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
