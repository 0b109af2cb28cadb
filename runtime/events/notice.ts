// The messages that subscribers get.

/** A message to a subscriber (8.4). */
export type Notice =
  | {
      kind: 'event';
      /** The path with the id of the instance. */
      path: string;
      /** The value's JSON text in REST's spelling, shared by all subscribers. */
      valueJson: string;
      /** Milliseconds since the epoch. */
      createdAt: number;
      /** For persistent subscriptions to reliable resources: what the acknowledgement names (8.5). */
      reliable?: { partitionId: number; sequenceId: number; redelivered: boolean };
    }
  /** Another socket has taken the persistent subscription over, or it is deleted; nothing follows. */
  | { kind: 'taken'; name: string }
  /** The right to listen is withdrawn; nothing follows. */
  | { kind: 'withdrawn' }
  /** What was listened to is deleted; nothing follows. */
  | { kind: 'gone' };
