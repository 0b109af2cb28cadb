// A tunnel through an HTTP proxy (RFC 9110 9.3.6): CONNECT, and what the proxy says to it.
import { isIP, type Socket } from 'node:net';
import { EgressError } from './errors.ts';

export interface Proxy {
  readonly host: string;
  readonly port: number;
  /** Value of Proxy-Authorization. */
  readonly authorization?: string;
  /** No tunnel: requests are sent to the proxy in the absolute form. */
  readonly absoluteForm?: boolean;
}

const MOST_HEAD_BYTES = 16 * 1024;

/** Resolves when the socket leads to the host. @throws EgressError `proxy` */
export async function openTunnel(socket: Socket, host: string, port: number, { authorization }: Proxy): Promise<void> {
  const bare = host.replace(/^\[(.*)\]$/s, '$1');
  const authority = `${isIP(bare) === 6 ? `[${bare}]` : bare}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const status = await statusOf(socket);
  if (status < 200 || status > 299) throw new EgressError('proxy', host, `the proxy answered ${status}`);
}

function statusOf(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const fail = (reason: string): void => reject(new EgressError('proxy', '', reason));
    const onEnd = (): void => fail('the proxy closed the connection');
    const onError = (error: Error): void => fail(error.message);
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) {
        if (head.length > MOST_HEAD_BYTES) fail('the answer of the proxy is too long');
        return;
      }
      socket.off('data', onData).off('end', onEnd).off('error', onError);
      socket.pause();
      const rest = head.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1'))?.[1];
      if (status === undefined) fail('the proxy speaks no HTTP');
      else resolve(Number(status));
    };
    socket.on('data', onData).once('end', onEnd).once('error', onError);
  });
}
