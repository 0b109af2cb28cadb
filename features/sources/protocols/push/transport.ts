// What a push service is to a source: a note goes to one device, and comes to one of four ends. A further service is a file beside this one and a line
// in connection.ts.

/** What is shown on the device, and what its application gets. */
export interface PushNote {
  readonly title: string;
  readonly body: string;
  /** Texts: what the application fetches the message by. */
  readonly data: Readonly<Record<string, string>>;
}

export type TransportName = 'fcm' | 'apns' | 'webpush';

/** dead: the device is gone and takes nothing more. again: the service, or the way there, may do better in a while. */
export type PushOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'dead' | 'failed'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string; readonly afterMs: number | null };

export interface PushTransport {
  readonly name: TransportName;
  /** @param token what the device was registered with. Never throws. */
  send(token: string, note: PushNote): Promise<PushOutcome>;
  close(): Promise<void>;
}

export const SENT: PushOutcome = { kind: 'sent' };

/** What a service wants to be waited for (RFC 9110 10.2.3: seconds, or a time); null: it does not say. */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^\d{1,7}$/.test(text.trim())) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
