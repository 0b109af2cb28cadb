// Which process leads a namespace: it alone keeps what rules wait for, and runs what happens at a time. A record a namespace names the epoch; it
// changes hands only when that process is gone and its journal closed, so nothing the former leader still tries can commit.

import { type Collection, type Db, MongoServerError } from 'mongodb';
import type { ServiceProcess } from '../transactions/index.ts';

const DUPLICATE = 11000;

interface Leader {
  /** The namespace. */
  readonly _id: string;
  readonly epoch: number;
}

export class Leaders {
  readonly #leaders: Collection<Leader>;
  readonly #process: ServiceProcess;

  constructor(installation: Db, process: ServiceProcess) {
    this.#leaders = installation.collection<Leader>('leaders');
    this.#process = process;
  }

  /**
   * Takes the lead of a namespace that nobody has.
   * @param dead epochs that this process takes over
   * @returns whether it leads now
   */
  async take(namespace: string, dead: readonly number[]): Promise<boolean> {
    const { epoch } = this.#process;
    const known = await this.#leaders.findOne({ _id: namespace });
    if (known?.epoch === epoch) return true;
    if (known && !dead.includes(known.epoch) && !(await this.#process.isForgotten(known.epoch))) return false;
    try {
      if (!known) await this.#leaders.insertOne({ _id: namespace, epoch });
      else return (await this.#leaders.updateOne({ _id: namespace, epoch: known.epoch }, { $set: { epoch } })).matchedCount > 0;
      return true;
    } catch (error) {
      if (error instanceof MongoServerError && error.code === DUPLICATE) return false; // another one was first
      throw error;
    }
  }

  /** The namespaces that one of these led. */
  async ledBy(epochs: readonly number[]): Promise<string[]> {
    return (await this.#leaders.find({ epoch: { $in: [...epochs] } }).toArray()).map(({ _id }) => _id);
  }
}
