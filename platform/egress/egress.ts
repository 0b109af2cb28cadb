// The one way out: every connection that a namespace makes to the outside is opened here. A name is resolved once, each address is checked, and the
// socket goes to an address that was checked; so a name that resolves differently the second time leads nowhere else.
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { EgressError, reasonOf } from './errors.ts';
import { Lookups } from './lookups.ts';
import { canonical, isPublic, Networks } from './networks.ts';
import { type AnswerRoom, ReceivedBudget } from './received.ts';
import { openTunnel, type Proxy } from './tunnel.ts';

export interface EgressOptions {
  /** CIDRs that are opened besides public addresses; none by default. */
  readonly allowed?: readonly string[];
  /** Host and port of the database: never reached on an address of this machine, whatever is opened. */
  readonly databases?: readonly { readonly host: string; readonly port: number }[];
  /** Most sockets that one namespace may have open at a time. */
  readonly socketsPerNamespace?: number;
  /** Finds the addresses of names. */
  readonly lookups?: Lookups;
  /** Bounds the answers that are in memory. */
  readonly received?: ReceivedBudget;
}

export interface ConnectTarget {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** TLS on the connection; certificates are checked for `servername`, which is the host where it is absent. Null: plain TCP. */
  readonly tls?: ConnectionOptions | null;
  /** An HTTP proxy that is asked to CONNECT. */
  readonly proxy?: Proxy | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** `host` as it was connected to. */
export type SecureTarget = Pick<ConnectTarget, 'host' | 'timeoutMs' | 'signal'> & { readonly tls: ConnectionOptions };
/** Always the machine itself (RFC 6761). */
const LOOPBACK_NAME = /^(?:.+\.)?localhost\.?$/i;

/** The way out of one namespace. */
export interface Outlet {
  /** @throws EgressError `refused` for an address that may not be reached; names are checked when they are connected to */
  checkLiteral(host: string): void;
  /** A socket whose connection (and TLS handshake) stands. @throws EgressError */
  connect(target: ConnectTarget): Promise<Socket>;
  /** TLS on a connection that stands already, for protocols that begin in the clear. The connection is gone where that fails. @throws EgressError */
  secure(plain: Socket, target: SecureTarget): Promise<Socket>;
  /** Room for an answer, to be disposed of when its value has been handed on. */
  answerRoom(): AnswerRoom;
  /** Sockets that are open. */
  readonly open: number;
}

/** Whose look-ups those of the databases' hosts are: no namespace has a line break in its name. */
const DATABASES = '\ndatabases';

const SOCKETS_PER_NAMESPACE = 256;
const NODE_SOCKETS_PER_NAMESPACE = 4_096;

/** Whose sockets are counted together. */
interface Account {
  readonly namespace: string;
  readonly account: string;
  readonly most: number;
}

export class Egress {
  readonly #allowed: Networks;
  readonly #databases: EgressOptions['databases'];
  readonly #mostSockets: number;
  readonly #open = new Map<string, number>();
  readonly #received: ReceivedBudget;
  readonly #lookups: Lookups;

  /** @throws TypeError for an entry of `allowed` that is no network */
  constructor({
    allowed = [],
    databases = [],
    socketsPerNamespace = SOCKETS_PER_NAMESPACE,
    received = new ReceivedBudget(),
    lookups = new Lookups(),
  }: EgressOptions = {}) {
    this.#received = received;
    this.#lookups = lookups;
    this.#allowed = new Networks(allowed);
    this.#databases = databases;
    this.#mostSockets = socketsPerNamespace;
  }

  outletOf(namespace: string): Outlet {
    return this.#outlet(namespace, namespace, this.#mostSockets);
  }

  /** For the nodes of a namespace, which only its admins register: counted apart, so that a fleet and the sources don't take each other's sockets. */
  nodesOutletOf(namespace: string): Outlet {
    return this.#outlet(namespace, `${namespace}\nnodes`, NODE_SOCKETS_PER_NAMESPACE);
  }

  #outlet(namespace: string, account: string, most: number): Outlet {
    const open = this.#open;
    return {
      checkLiteral: (host) => this.#checkLiteral(host),
      connect: (target) => this.#connect({ namespace, account, most }, target),
      secure: securedWithin,
      answerRoom: () => this.#received.room(namespace),
      get open() {
        return open.get(account) ?? 0;
      },
    };
  }

  #mayReach(address: string): boolean {
    if (this.#allowed.has(address)) return true;
    return isPublic(address) && !ownAddresses().has(address);
  }

  #checkLiteral(host: string): void {
    const bare = bareHost(host);
    if (isIP(bare) !== 0 && !this.#mayReach(canonical(bare))) throw refused(host);
  }

  /** Addresses that may be connected to, in the order of the resolver. */
  async #resolve(namespace: string, host: string, port: number, deadline: Deadline): Promise<string[]> {
    const bare = bareHost(host);
    if (/[\s\0]/.test(bare) || bare === '') throw new EgressError('resolve', host, 'it is no host name');
    const found = isIP(bare) !== 0 ? [bare] : await deadline.within(this.#lookups.addressesOf(namespace, bare, () => !deadline.isOver));
    const reachable: string[] = [];
    for (const address of found)
      if (this.#mayReach(canonical(address)) && !(await this.#isDatabase(canonical(address), port))) reachable.push(address);
    if (reachable.length === 0) throw refused(host);
    return reachable;
  }

  async #isDatabase(address: string, port: number): Promise<boolean> {
    for (const database of this.#databases ?? []) {
      if (database.port !== port) continue;
      if (address.startsWith('127.') || address === '::1' || address === '0.0.0.0' || address === '::' || ownAddresses().has(address))
        return true;
      const hosts = isIP(database.host) !== 0 ? [database.host] : await this.#lookups.addressesOf(DATABASES, database.host).catch(() => []);
      if (hosts.map(canonical).includes(address)) return true;
    }
    return false;
  }

  async #connect(who: Account, target: ConnectTarget): Promise<Socket> {
    const place = this.#enter(who);
    const deadline = new Deadline(target.timeoutMs, target.host, target.signal);
    try {
      const socket = await this.#socketTo(who.namespace, target, deadline);
      socket.once('close', place.leave);
      if (socket.destroyed) place.leave();
      return socket;
    } catch (error) {
      place.leave();
      throw error;
    } finally {
      deadline.clear();
    }
  }

  async #socketTo(namespace: string, { host, port, tls, proxy }: ConnectTarget, deadline: Deadline): Promise<Socket> {
    let plain: Socket;
    if (proxy) {
      this.#checkLiteral(host);
      if (LOOPBACK_NAME.test(bareHost(host)) && !this.#mayReach('127.0.0.1')) throw refused(host); // the proxy resolves it
      plain = await this.#tcp(namespace, proxy.host, proxy.port, deadline);
      if (!proxy.absoluteForm) await deadline.within(openTunnel(plain, host, port, proxy), plain);
    } else plain = await this.#tcp(namespace, host, port, deadline);
    return tls && !proxy?.absoluteForm ? secured(plain, host, tls, deadline) : plain;
  }

  async #tcp(namespace: string, host: string, port: number, deadline: Deadline): Promise<Socket> {
    if (!(Number.isInteger(port) && port > 0 && port < 65_536)) throw new EgressError('connect', host, `${port} is no port`);
    let failed: unknown;
    for (const address of await this.#resolve(namespace, host, port, deadline)) {
      const socket = connectTcp({ host: address, port });
      try {
        await deadline.within(standing(socket, 'connect'), socket);
        socket.setNoDelay(true);
        return socket;
      } catch (error) {
        socket.destroy();
        if (error instanceof EgressError) throw error;
        failed = error;
      }
    }
    throw new EgressError('connect', host, reasonOf(failed));
  }

  #enter({ namespace, account, most }: Account): { leave(): void } {
    const count = this.#open.get(account) ?? 0;
    if (count >= most) throw new EgressError('limit', namespace, `the namespace has ${count} connections open`);
    this.#open.set(account, count + 1);
    let isIn = true;
    return {
      leave: () => {
        if (!isIn) return;
        isIn = false;
        const left = (this.#open.get(account) ?? 1) - 1;
        if (left > 0) this.#open.set(account, left);
        else this.#open.delete(account);
      },
    };
  }
}

async function securedWithin(plain: Socket, { host, tls, timeoutMs, signal }: SecureTarget): Promise<Socket> {
  const deadline = new Deadline(timeoutMs, host, signal);
  try {
    return await secured(plain, host, tls, deadline);
  } finally {
    deadline.clear();
  }
}

async function secured(plain: Socket, host: string, tls: ConnectionOptions, deadline: Deadline): Promise<Socket> {
  const bare = bareHost(host);
  const socket = connectTls({ ...(isIP(bare) === 0 && { servername: bare }), ...tls, host: bare, socket: plain });
  try {
    await deadline.within(standing(socket, 'secureConnect'), socket);
    return socket;
  } catch (error) {
    socket.destroy();
    plain.destroy();
    throw error instanceof EgressError ? error : new EgressError('tls', host, reasonOf(error));
  }
}

function standing(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(error);
    const onClose = (): void => reject(new Error('the connection was closed'));
    socket.once('error', onError).once('close', onClose);
    socket.once(event, () => {
      socket.off('error', onError).off('close', onClose);
      resolve();
    });
  });
}

/** The time that a connection may take in all, and whether anybody still wants it. */
class Deadline {
  readonly #host: string;
  readonly #ended: Promise<never>;
  readonly #timer: NodeJS.Timeout;
  #forget: () => void = () => undefined;
  #isOver = false;

  constructor(timeoutMs: number, host: string, signal: AbortSignal | undefined) {
    this.#host = host;
    const { promise, reject } = Promise.withResolvers<never>();
    const end = (error: EgressError): void => {
      this.#isOver = true;
      reject(error);
    };
    this.#ended = promise;
    promise.catch(() => undefined); // nobody may be waiting when it ends
    this.#timer = setTimeout(() => end(new EgressError('timeout', host, `no connection within ${timeoutMs} ms`)), timeoutMs);
    if (!signal) return;
    const onAbort = (): void => end(new EgressError('connect', this.#host, 'it is not wanted any more'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#forget = () => signal.removeEventListener('abort', onAbort);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @param socket destroyed when the time is over first */
  async within<T>(work: Promise<T>, socket?: Socket): Promise<T> {
    try {
      return await Promise.race([work, this.#ended]);
    } catch (error) {
      work.catch(() => undefined);
      socket?.once('error', () => undefined).destroy();
      throw error;
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#forget();
  }
}

const ownAddresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => canonical(address))));

const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/s, '$1');

const refused = (host: string): EgressError => new EgressError('refused', host, 'the address may not be reached from here');
