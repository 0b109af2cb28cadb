// The record of a namespace's owner in the database.

export const OWNERS = 'owners';

export interface OwnerRecord {
  /** The namespace. */
  readonly _id: string;
  /** The epoch of the owning process; null: there is no owner. */
  readonly process: number | null;
  /** The epoch of the last ownership. */
  readonly epoch: number;
  /** Epochs of former owners whose journals may still be open: the next owner has to close them. */
  readonly unclosed?: readonly number[];
  /** The second of the newest `_id` that a former owner is known to have given; those in journals may be newer. */
  readonly idSecond?: number;
  /** Whether no work is left to do there until a request arrives. */
  readonly isResting?: boolean;
  /** Epochs of the processes whose clients have subscriptions there. */
  readonly listeners?: readonly number[];
}
