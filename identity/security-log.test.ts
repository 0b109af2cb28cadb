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
