// A session and its transaction in the simulated store.
import { type Document, type MongoClient, MongoNetworkError, MongoServerError } from 'mongodb';
import { type PipelinedInsert, pipelineOf } from '../../../../platform/mongo/index.ts';
import type { Life } from '../world.ts';
import type { SimulatedStore } from './store.ts';

/** NotWritablePrimary, InterruptedDueToReplStateChange, PrimarySteppedDown, ShutdownInProgress. */
export const STEPPING_DOWN = [10107, 11602, 189, 91];

export interface Change {
  readonly collection: string;
  readonly key: string;
  readonly before: Document | undefined;
  /** The new state; null: deleted. */
  readonly next: Document | null;
}

/** A session of the driver, with one transaction at a time. */
export class Transaction {
  readonly #store: SimulatedStore;
  readonly life: Life;
  #open = false;
  /** Whether the server has ended it. */
  #isGone = false;
  /** The number of the store's last change that it sees; set by its first command. */
  beganAt = 0;
  changes: Change[] = [];
  readonly client: MongoClient;
  readonly serverSession = { id: {} };
  readonly transaction = {
    transition: (state: string): void => {
      if (state === 'TRANSACTION_COMMITTED') this.#open = false;
    },
  };
  readonly #pipelined: (insert: PipelinedInsert, session: Transaction) => Document;

  constructor(
    store: SimulatedStore,
    life: Life,
    client: MongoClient,
    pipelined: (insert: PipelinedInsert, session: Transaction) => Document,
  ) {
    this.#store = store;
    this.life = life;
    this.client = client;
    this.#pipelined = pipelined;
  }

  /** The inserts that are sent in front of a command. @returns what carries them out */
  takePipeline(): () => void {
    const pipeline = pipelineOf(this.serverSession.id);
    return () => {
      for (const insert of pipeline?.inserts ?? []) pipeline?.replies.push(this.#pipelined(insert, this));
    };
  }

  startTransaction(): void {
    this.#open = true;
    this.#isGone = false;
    this.beganAt = 0;
    this.changes = [];
  }

  /** @throws NoSuchTransaction */
  use(): void {
    if (this.#isGone) throw transient(251);
    if (this.beganAt === 0) this.beganAt = this.#store.changes;
  }

  expire(): void {
    this.#isGone = true;
    this.#store.release(this);
  }

  inTransaction(): boolean {
    return this.#open;
  }

  async commitTransaction(): Promise<void> {
    await this.commit();
    this.#open = false;
  }

  /** The command, whatever the driver then thinks of the transaction. */
  async commit(): Promise<void> {
    const { changes } = this;
    const answerPipeline = this.takePipeline();
    const commit = (): void => {
      try {
        answerPipeline();
        this.use();
        this.#store.apply(changes, this.life);
      } finally {
        this.expire();
      }
    };
    // Nobody aborts a transaction after its commit was sent: the server does.
    await this.#store.command(this.life, 'commit', commit, true, () => this.expire());
  }

  /** The command; inserts that are still under way begin the transaction afterwards. */
  async abort(): Promise<void> {
    await this.#store.command(this.life, 'abort', () => {
      if (this.beganAt !== 0) this.expire();
    });
  }

  async abortTransaction(): Promise<void> {
    this.#open = false;
    this.changes = [];
    this.#store.release(this);
  }

  async withTransaction(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      this.startTransaction();
      try {
        await work();
        await this.commitTransaction();
        return;
      } catch (error) {
        await this.abortTransaction();
        const mayPass = error instanceof MongoNetworkError || (error instanceof MongoServerError && isRetriedByDriver(error));
        if (!mayPass) throw error;
      }
    }
  }

  async endSession(): Promise<void> {
    this.#open = false;
  }
}

const isRetriedByDriver = (error: MongoServerError): boolean =>
  STEPPING_DOWN.includes(Number(error.code)) || error.hasErrorLabel('TransientTransactionError');

/** WriteConflict, or another error after which the whole transaction may be tried again. */
export function transient(code = 112): MongoServerError {
  const error = new MongoServerError({ message: code === 112 ? 'WriteConflict' : 'NoSuchTransaction', code });
  error.addErrorLabel('TransientTransactionError');
  return error;
}
