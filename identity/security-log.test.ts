import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SecurityLog } from './security-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened() {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  return { security: new SecurityLog(pino({ level: 'debug' }, sink)), lines };
}

test('a flood of one kind of refusal is cut, counted, and hides no other kind', () => {
  const { security, lines } = opened();
  for (let i = 0; i < 1000; i++) security.loginFailed(`u${i}`, '10.0.0.1', 'password');
  security.locked('u0', '10.0.0.1');
  expect(lines.filter((line) => line['security'] === 'loginFailed')).toHaveLength(100);
  expect(lines.at(-1)).toMatchObject({ level: 40, security: 'locked', username: 'u0', address: '10.0.0.1' });

  vi.advanceTimersByTime(60_000);
  expect(lines.at(-1)).toMatchObject({ security: 'loginFailed', omitted: 900 });
  security.loginFailed('u1', '10.0.0.1', 'password');
  expect(lines.at(-1)).toMatchObject({ security: 'loginFailed', username: 'u1' });
});

test('a name of a failed login is cut', () => {
  const { security, lines } = opened();
  security.loginFailed('x'.repeat(10_000), null, 'password');
  expect(lines[0]!['username']).toHaveLength(128);
});

test('a login waits for its audit, and is none without it; a failure is one all the same', async () => {
  const { security, lines } = opened();
  let isStored = false;
  security.onEvent = async () => {
    await Promise.resolve();
    isStored = true;
  };
  await security.loggedIn('ann', 'main', null, true);
  expect(isStored).toBe(true);
  security.onEvent = () => Promise.reject(new Error('the store is away'));
  await expect(security.loggedIn('ann', 'main', null, true)).rejects.toMatchObject({ code: 'cascade.server.unavailable' });
  security.loginFailed('ann', null, 'password');
  await security.settled();
  expect(lines.filter(({ msg }) => msg === 'an audit could not be stored')).toHaveLength(2);
});

test('nobody waits for the audit of a refusal but the end of the service', async () => {
  const { security } = opened();
  const open: (() => void)[] = [];
  security.onEvent = () => new Promise((resolve) => open.push(resolve));
  security.loginFailed('ann', null, 'password');
  security.exceeded('ann', 'main', ['rules', '5']);
  let isSettled = false;
  const settled = security.settled().then(() => (isSettled = true));
  open.shift()?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(isSettled).toBe(false);
  open.shift()?.();
  await settled;
});
