// What subscribers of events are sent.

/** What a subscriber is told (8.4). */
export type Notice =
  | {
      kind: 'event';
      /** With the id of the instance. */
      path: string;
      /** The value's JSON text in REST's spelling: one for all subscribers. */
      valueJson: string;
      /** Milliseconds since the epoch. */
      createdAt: number;
      /** Of a reliable resource, for a persistent subscription: what its acknowledgement names (8.5). */
      reliable?: { partitionId: number; sequenceId: number; redelivered: boolean };
    }
  /** Another socket has taken the persistent subscription over, or it is deleted; nothing follows. */
  | { kind: 'taken'; name: string }
  /** The right to listen is withdrawn; nothing follows. */
  | { kind: 'withdrawn' }
  /** What was listened to is deleted; nothing follows. */
  | { kind: 'gone' };
