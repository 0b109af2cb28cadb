// Requests that end when who asks is gone (`ApiRequest.signal`): their owner is told by the process that has the client, and by its end.

import type { Calls } from '../../runtime/cluster/index.ts';

type Head = Readonly<Record<string, unknown>>;

export interface Begun {
  /** Aborted when nobody waits for the request any more; absent: it does not end with who asks. */
  readonly signal?: AbortSignal;
  /** To be called when the request is over. */
  end(): void;
}

const nothing = (): void => undefined;

export class AbortableRequests {
  #nextId = 1;
  /** Those that are under way here, by process and number. */
  readonly #begun = new Map<string, AbortController>();

  /** Numbers a request for its owner, which is told when the signal is aborted. @param head gets the number @returns ends that */
  announce(calls: Calls, owner: number, head: Record<string, unknown>, signal: AbortSignal | undefined): () => void {
    if (!signal) return nothing;
    const id = this.#nextId++;
    head['abortable'] = id;
    head['isAborted'] = signal.aborted;
    const abort = (): void => void calls.post(owner, 'abort', { id });
    signal.addEventListener('abort', abort, { once: true });
    return () => signal.removeEventListener('abort', abort);
  }

  /** @param from the process that has the client */
  begin(from: number, head: Head): Begun {
    if (head['abortable'] === undefined) return { end: nothing };
    const key = `${from}/${Number(head['abortable'])}`;
    const ending = new AbortController();
    if (head['isAborted'] === true) ending.abort();
    this.#begun.set(key, ending);
    return { signal: ending.signal, end: () => void this.#begun.delete(key) };
  }

  abort(from: number, id: number): void {
    this.#begun.get(`${from}/${id}`)?.abort();
  }

  /** A process is gone, and its clients with it. */
  dropped(from: number): void {
    for (const [key, ending] of this.#begun) if (key.startsWith(`${from}/`)) ending.abort();
  }
}
