import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { keepLastMessage } from './keep-last-message.ts';

test('passes and leaves a server open, and its end is not told', async () => {
  keepLastMessage();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  expect(server.listening).toBe(true);
});
