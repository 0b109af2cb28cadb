// A client that subscribes to events and ignores them, so that the last stage of a rule, its subscriber, is measured, too.
import { UsageError } from '../terminal.ts';
import type { Address } from './events.ts';

const PATH = '/api/v1/wsock/websocket';
const WITHIN_MS = 10_000;

/** @throws UsageError when the service cannot be reached, or refuses the login or a path */
export async function listenTo(paths: readonly string[], { url, token }: Address): Promise<AsyncDisposable> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/$/, '')}${PATH}`);
  socket.binaryType = 'arraybuffer';
  const closed = new Promise<void>((resolve) => socket.addEventListener('close', () => resolve(), { once: true }));
  const close = async (): Promise<void> => {
    socket.close();
    await closed;
  };
  try {
    await next(socket, 'open', 'the WebSocket');
    await ask(socket, { op: 'validate', resourceName: 'system.credentials', object: token }, 'the login');
    for (const path of paths)
      await ask(socket, { op: 'subscribe', resourceName: 'events', resourceId: path, parameters: { requestId: path } }, path);
  } catch (error) {
    await close();
    throw error;
  }
  return { [Symbol.asyncDispose]: close };
}

async function ask(socket: WebSocket, message: object, what: string): Promise<void> {
  socket.send(JSON.stringify(message));
  const answer = await next(socket, 'message', what);
  const { status } = JSON.parse(answer) as { status?: number };
  if (status !== undefined && status >= 300) throw new UsageError(`${what} is refused: ${answer.slice(0, 300)}`);
}

const textOf = (data: unknown): string => (data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : String(data));

/** @returns the text of a message; empty for another event */
function next(socket: WebSocket, kind: 'open' | 'message', what: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new UsageError(`${what}: ${why}`));
    const late = setTimeout(() => fail(`no answer within ${WITHIN_MS / 1_000} s`), WITHIN_MS);
    const ended = new AbortController();
    const once = (event: string, then: (event: Event) => void): void =>
      socket.addEventListener(
        event,
        (one) => {
          clearTimeout(late);
          ended.abort();
          then(one);
        },
        { signal: ended.signal },
      );
    once(kind, (one) => resolve(kind === 'message' ? textOf((one as MessageEvent).data) : ''));
    once('close', () => fail('the connection was closed'));
  });
}
