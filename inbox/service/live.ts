// The inbox of this device over WebSocket: what is pending, then what happens. It connects again by itself, at growing distances.
import { readJson } from '../form/json.ts';
import { isObject, type JsonObject, own, textOf } from '../form/types.ts';

export type LiveState = 'connecting' | 'open' | 'expired';

export interface Listener {
  /** `open`: from now on every event is heard, so that what is read after it misses nothing. */
  state(state: LiveState): void;
  event(value: JsonObject): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const LOGIN = 'login';
const INBOX = 'inbox';

export interface Live {
  /** Tries now what it would try later. */
  hurry(): void;
  close(): void;
}

export function listen(token: () => string, deviceId: string, listener: Listener): Live {
  let socket: WebSocket | null = null;
  let timer: number | undefined;
  let waitMs = FIRST_WAIT_MS;
  let isClosed = false;

  const connect = (): void => {
    timer = undefined;
    listener.state('connecting');
    const url = new URL('/api/v1/wsock/websocket', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const opened = new WebSocket(url);
    socket = opened;
    opened.binaryType = 'arraybuffer';
    const send = (message: JsonObject): void => opened.send(JSON.stringify(message));
    opened.onopen = () => send({ op: 'validate', resourceName: 'system.credentials', object: token(), parameters: { requestId: LOGIN } });
    opened.onmessage = ({ data }) => {
      const message = read(data);
      if (message && socket === opened) take(message, send);
    };
    opened.onclose = () => {
      if (socket === opened) later();
    };
  };

  const take = (message: JsonObject, send: (message: JsonObject) => void): void => {
    const [status, body, headers] = [own(message, 'status'), own(message, 'body'), own(message, 'headers')];
    if (status === 401) return stop('expired');
    if (headers === null) {
      // The answer to the login has none. Only 401 says that the token is taken no longer: anything else passes.
      if (status !== 200) return socket?.close();
      send({ op: 'subscribe', resourceName: 'events', resourceId: `/inbox/${deviceId}`, parameters: { requestId: INBOX } });
      return;
    }
    const value = isObject(body) ? own(body, 'value') : null;
    if (status === 100 && isObject(value)) listener.event(value);
    else if (status === 200) {
      waitMs = FIRST_WAIT_MS;
      listener.state('open');
    } else if (isObject(headers) && textOf(headers, 'X-Request-Id') === INBOX) socket?.close();
  };

  const later = (): void => {
    socket = null;
    if (isClosed) return;
    listener.state('connecting');
    timer = setTimeout(connect, waitMs * (0.5 + Math.random() / 2));
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  };

  const stop = (state?: LiveState): void => {
    isClosed = true;
    clearTimeout(timer);
    socket?.close();
    socket = null;
    if (state) listener.state(state);
  };

  connect();
  return {
    hurry: () => {
      if (isClosed || timer === undefined) return;
      clearTimeout(timer);
      waitMs = FIRST_WAIT_MS;
      connect();
    },
    close: () => stop(),
  };
}

function read(data: unknown): JsonObject | null {
  const text = typeof data === 'string' ? data : data instanceof ArrayBuffer ? new TextDecoder().decode(data) : '';
  const value = readJson(text);
  return isObject(value) ? value : null;
}
