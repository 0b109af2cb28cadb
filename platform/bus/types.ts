// What processes reach each other by.

export interface Bus extends AsyncDisposable {
  /** Of one message. */
  readonly mostBytes: number;
  /** Whether messages can be sent now; what is published otherwise is lost, or late. */
  readonly isConnected: boolean;
  /** May be lost. Never throws. */
  publish(subject: string, bytes: Uint8Array): void;
  /** @param take must not throw @returns ends it */
  subscribe(subject: string, take: (bytes: Uint8Array) => void): () => void;
}
