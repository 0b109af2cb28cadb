// Asks the system for the addresses of names, a few names of a namespace at a time: each takes a thread that others need, for as long as its
// name server takes to answer, and cannot be called off.
import { lookup } from 'node:dns/promises';
import { EgressError, reasonOf } from './errors.ts';

/** Node's default. */
const POOL_THREADS = 4;

/** The pool gives look-ups half of its threads; a namespace has half of these. */
const mostAtATime = (poolThreads = Number(process.env['UV_THREADPOOL_SIZE'] ?? POOL_THREADS)): number =>
  Math.max(1, Math.floor((poolThreads + 1) / 4) || 1);

export type Resolve = (host: string) => Promise<readonly string[]>;

/** One name, for all that ask for it meanwhile. */
interface Lookup {
  readonly host: string;
  readonly wanted: (() => boolean)[];
  readonly addresses: Promise<readonly string[]>;
  readonly begin: () => void;
  readonly forget: () => void;
}

interface OfNamespace {
  underWay: number;
  readonly waiting: Lookup[];
  readonly byName: Map<string, Lookup>;
}

export class Lookups {
  readonly #resolve: Resolve;
  readonly #most: number;
  readonly #namespaces = new Map<string, OfNamespace>();

  constructor(resolve: Resolve = systemAddresses, most = mostAtATime()) {
    this.#resolve = resolve;
    this.#most = most;
  }

  /**
   * The addresses of a name, in the order of the resolver.
   * @param isWanted asked before a look-up that had to wait is begun: it isn't for nobody
   * @throws EgressError
   */
  addressesOf(namespace: string, name: string, isWanted: () => boolean = () => true): Promise<readonly string[]> {
    const host = name.toLowerCase();
    let turns = this.#namespaces.get(namespace);
    if (!turns) this.#namespaces.set(namespace, (turns = { underWay: 0, waiting: [], byName: new Map() }));
    const known = turns.byName.get(host);
    if (known) {
      known.wanted.push(isWanted);
      return known.addresses;
    }
    const asked = this.#lookup(namespace, turns, host);
    asked.wanted.push(isWanted);
    turns.byName.set(host, asked);
    turns.waiting.push(asked);
    this.#beginNext(namespace, turns);
    return asked.addresses;
  }

  #lookup(namespace: string, turns: OfNamespace, host: string): Lookup {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    const end = (settle: () => void): void => {
      turns.underWay--;
      turns.byName.delete(host);
      settle();
      this.#beginNext(namespace, turns);
    };
    return {
      host,
      wanted: [],
      addresses: promise,
      begin: () =>
        void this.#resolve(host).then(
          (addresses) => end(() => resolve(addresses)),
          (error: unknown) => end(() => reject(error)),
        ),
      forget: () => {
        turns.byName.delete(host);
        reject(new EgressError('timeout', host, 'its name was not looked up in time'));
      },
    };
  }

  #beginNext(namespace: string, turns: OfNamespace): void {
    while (turns.underWay < this.#most) {
      const next = turns.waiting.shift();
      if (!next) break;
      if (!next.wanted.some((isWanted) => isWanted())) next.forget();
      else {
        turns.underWay++;
        next.begin();
      }
    }
    if (turns.underWay === 0 && turns.waiting.length === 0) this.#namespaces.delete(namespace);
  }
}

async function systemAddresses(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
  } catch (error) {
    throw new EgressError('resolve', host, (error as NodeJS.ErrnoException).code === 'ENOTFOUND' ? 'the name is unknown' : reasonOf(error));
  }
}
