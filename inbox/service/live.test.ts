// When a socket of the inbox tries again, and when it wants a login.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listen, type LiveState } from './live.ts';

class FakeSocket {
  static readonly opened: FakeSocket[] = [];
  readonly sent: { op: string }[] = [];
  binaryType = '';
  onopen = (): void => undefined;
  onmessage = (_event: { data: string }): void => undefined;
  onclose = (): void => undefined;

  constructor() {
    FakeSocket.opened.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { op: string });
  }

  close(): void {
    this.onclose();
  }

  /** The socket is open, and the service has answered its login. */
  loggedIn(status: number): void {
    this.onopen();
    this.onmessage({ data: JSON.stringify({ status, contentType: 'application/json', body: [] }) });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('location', { href: 'http://localhost/inbox' });
  FakeSocket.opened.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function listening() {
  const states: LiveState[] = [];
  const live = listen(() => 'token', 'device', { state: (state) => void states.push(state), event: () => undefined });
  return { live, states, socket: FakeSocket.opened[0]! };
}

test.each([500, 429, 403])('a login that is answered with %i is tried again, as a lost connection is', (status) => {
  const { live, states, socket } = listening();
  socket.loggedIn(status);
  expect(socket.sent.map(({ op }) => op)).toEqual(['validate']);
  vi.runOnlyPendingTimers();
  expect(states).not.toContain('expired');
  const again = FakeSocket.opened[1]!;
  again.loggedIn(200);
  expect(again.sent.map(({ op }) => op)).toEqual(['validate', 'subscribe']);
  again.onmessage({ data: JSON.stringify({ status: 200, headers: { 'X-Request-Id': 'inbox' } }) });
  expect(states.at(-1)).toBe('open');
  live.close();
});

test('a token that is taken no longer is told of, and nothing more is tried', () => {
  const { states, socket } = listening();
  socket.loggedIn(401);
  vi.runAllTimers();
  expect([states.at(-1), FakeSocket.opened.length]).toEqual(['expired', 1]);
});
