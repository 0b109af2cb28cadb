// Servers of a NATS config, and sockets to them. A server sends its greeting unencrypted first: TLS begins after it.
import type { Socket } from 'node:net';
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';
import { ConnectionFailure, type SourceContext } from '../protocol.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

const PORT = 4_222;
const LONGEST_GREETING = 65_536;

export const serversOf = (config: ObjectValue): ServerAddress[] =>
  [own(config, 'serverURIs')]
    .flat()
    .filter((one) => typeof one === 'string')
    .map((text) => {
      const { protocol, hostname, port } = new URL(text);
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? PORT : Number(port), isSecure: protocol === 'tls:' };
    });

/** @throws ConnectionFailure, EgressError */
export async function socketTo({ outlet, tls, signal }: SourceContext, { host, port, isSecure }: ServerAddress, timeoutMs: number) {
  const plain = await outlet.connect({ host, port, timeoutMs, signal });
  try {
    const greeting = await greetingOn(plain, timeoutMs);
    const needsTls = /"tls_required":\s*true/.test(greeting.toString('latin1'));
    if (!isSecure && !needsTls) return { socket: plain, greeting, isSecure: false };
    return { socket: await outlet.secure(plain, { host, tls, timeoutMs, signal }), greeting, isSecure: true };
  } catch (error) {
    plain.destroy();
    throw error;
  }
}

/** Reads the first line that the server sends. */
async function greetingOn(socket: Socket, timeoutMs: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const timer = setTimeout(() => reject(new ConnectionFailure(`no greeting within ${timeoutMs} ms`)), timeoutMs);
  const onData = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.includes('\r\n')) resolve(bytes);
    else if (bytes.length > LONGEST_GREETING) reject(new ConnectionFailure('it is no NATS server'));
  };
  const onEnd = (): void => reject(new ConnectionFailure('the server closed the connection'));
  socket.on('data', onData).once('close', onEnd).once('error', onEnd);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.pause().off('data', onData).off('close', onEnd).off('error', onEnd);
  }
}
