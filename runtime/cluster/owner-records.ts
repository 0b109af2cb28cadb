// What the database says of who owns a namespace.

export const OWNERS = 'owners';

export interface OwnerRecord {
  /** The namespace. */
  readonly _id: string;
  /** The epoch of the process that has it; null: nobody. */
  readonly process: number | null;
  /** Of the last ownership. */
  readonly epoch: number;
  /** Epochs of owners that may still believe that they are: their journals have to be closed. */
  readonly unclosed?: readonly number[];
  /** Nothing is left to be done there unless somebody asks. */
  readonly isResting?: boolean;
  /** Epochs of the processes whose clients have subscriptions there. */
  readonly listeners?: readonly number[];
}
