// Checks whether a port can be listened on, and makes the error where it cannot.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** @param cause the system's error, where it is known */
export function unusable(host: string, port: number, cause?: unknown): Error {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason =
    code === 'EADDRINUSE'
      ? 'another program has it. Stop that one, or give this one another port (--port, CASCADE_PORT)'
      : code === 'EACCES'
        ? 'it is not yours to use. Ports below 1024 are those of root'
        : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
          ? `this machine has no address '${host}'`
          : 'another program has it, or it is not yours to use';
  return new Error(`Port ${port} cannot be listened on: ${reason}.`, { cause });
}

/** Called before anything else is opened: a first start that cannot serve must not create accounts. @throws Error */
export async function requireFreePort(host = '0.0.0.0', port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    throw unusable(host, port, error);
  }
  server.close();
  await once(server, 'close');
}
