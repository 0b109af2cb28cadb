import { NOBODY } from '../protocols/testing/context.ts';
import { expect, test } from 'vitest';
import { closedWhenIdle } from './in-use.ts';

test('a connection closes only after its publishes in flight have ended, failed ones included', async () => {
  const steps: string[] = [];
  const sending = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let next = 0;
  const connection = closedWhenIdle({
    publish: () => sending[next++]!.promise,
    close: async () => void steps.push('closed'),
  });
  const first = connection.publish!({}, NOBODY).then(() => steps.push('first'));
  const second = connection.publish!({}, NOBODY).catch((error: Error) => steps.push(error.message));
  const closing = connection.close();
  sending[0]!.resolve();
  await first;
  sending[1]!.reject(new Error('the broker is gone'));
  await second;
  await closing;
  expect(steps).toEqual(['first', 'the broker is gone', 'closed']);
  expect(connection.query).toBeUndefined();
});
