// The processes whose clients have subscriptions in namespaces of this process, as the database has them: the next owner waits for them.

import { type Calls, LinkFull, type Owners } from '../../runtime/cluster/index.ts';

interface Recorded {
  /** The epoch of the ownership: the record of a new one names nobody. */
  readonly epoch: number;
  /** The writes that name each process, over or under way. */
  readonly writes: Map<number, Promise<void>>;
}

export class Listeners {
  readonly #owners: Pick<Owners, 'addListener'>;
  readonly #byNamespace = new Map<string, Recorded>();

  constructor(owners: Pick<Owners, 'addListener'>) {
    this.#owners = owners;
  }

  /** Resolves once the database names the process. */
  async record(namespace: string, epoch: number, listener: number): Promise<void> {
    let recorded = this.#byNamespace.get(namespace);
    if (recorded?.epoch !== epoch) this.#byNamespace.set(namespace, (recorded = { epoch, writes: new Map() }));
    const { writes } = recorded;
    const known = writes.get(listener);
    if (known) return known;
    const write = this.#owners.addListener(namespace, epoch, listener);
    writes.set(listener, write);
    try {
      await write;
    } catch (error) {
      writes.delete(listener); // the next subscription writes it
      throw error;
    }
  }

  forget(namespace: string): void {
    this.#byNamespace.delete(namespace);
  }
}

/**
 * Tells listeners that a namespace moves to another owner. Resolves when they know, and so have all that was sent to them before: messages
 * to one process come in their order.
 */
export async function tellMoved(calls: Pick<Calls, 'call' | 'post'>, listeners: Iterable<number>, namespace: string): Promise<void> {
  const tell = async (listener: number): Promise<void> => {
    try {
      await calls.call(listener, 'moved', { namespace });
    } catch (error) {
      if (error instanceof LinkFull) calls.post(listener, 'moved', { namespace }); // else it is gone, and its clients with it
    }
  };
  await Promise.all([...listeners].map(tell));
}
