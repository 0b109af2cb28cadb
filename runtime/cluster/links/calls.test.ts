// Calls between processes over a bus that loses and repeats messages: each is carried out once, and only messages that are sealed with the
// installation's secret count.
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { type LocalNetwork, openLocalNetwork } from '../../../platform/bus/index.ts';
import { Calls, type Handler, LinkLost } from './calls.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

function join(network: LocalNetwork, epoch: number, handlers: Record<string, Handler>, secret: Uint8Array): Calls {
  const calls = new Calls({
    bus: network.connect(),
    installation: 'test',
    secret,
    epoch,
    handlers,
    toFailure: (error) => ({ said: (error as Error).message }),
    fromFailure: ({ said }) => new Error(String(said)),
    onLook: () => undefined,
  });
  opened.push(calls);
  return calls;
}

test('a call is carried out once though messages are lost and repeated, and its answer or error comes back', async () => {
  const network = openLocalNetwork();
  const secret = randomBytes(32);
  let n = 0;
  network.faults = { fate: () => (++n % 3 === 0 ? [] : n % 4 === 0 ? [1, 5] : [0]) };
  const counted: number[] = [];
  const a = join(network, 1, {}, secret);
  join(
    network,
    2,
    {
      add: (_from, { head, body }) => {
        counted.push(Number(head['n']));
        if (head['n'] === 7) throw new Error('seven');
        return { head: { n: Number(head['n']) + body.length }, body };
      },
    },
    secret,
  );
  const body = randomBytes(600_000);
  const numbers = Array.from({ length: 20 }, (_, at) => at);
  const answers = await Promise.all(
    numbers.map((at) => a.call(2, 'add', { n: at }, at === 3 ? body : undefined).catch((e: Error) => e.message)),
  );
  expect(answers.map((one) => (typeof one === 'string' ? one : one.head['n']))).toEqual(
    numbers.map((at) => (at === 7 ? 'seven' : at === 3 ? at + body.length : at)),
  );
  expect((answers[3] as { body: Buffer }).body.equals(body)).toBe(true);
  expect(counted).toEqual(numbers);
});

test('a stream is read piece by piece, and closed when the other process is gone', async () => {
  const network = openLocalNetwork();
  const secret = randomBytes(32);
  const [a, b] = [join(network, 1, {}, secret), join(network, 2, {}, secret)];
  const pieces = ['one', 'two'];
  let closed = 0;
  const stream = () => ({ next: async () => (pieces.length > 0 ? Buffer.from(pieces.shift()!) : null), close: async () => void closed++ });
  const taken = b.remote(1, a.lend(2, stream()));
  expect([String(await taken.next()), String(await taken.next()), await taken.next(), closed]).toEqual(['one', 'two', null, 1]);
  const left = b.remote(1, a.lend(2, stream()));
  a.drop(2);
  expect(closed).toBe(2);
  const waiting = left.next();
  b.drop(1);
  await expect(waiting).rejects.toThrow(LinkLost);
  await expect(b.call(1, 'any', {})).rejects.toThrow(LinkLost);
});

test('messages of a process with another secret are ignored', async () => {
  const network = openLocalNetwork();
  const received: unknown[] = [];
  const handlers = { tell: (_from: number, { head }: { head: object }) => (received.push(head), { head: {} }) };
  const honest = randomBytes(32);
  join(network, 2, handlers, honest);
  join(network, 3, {}, randomBytes(32)).post(2, 'tell', { by: 'stranger' });
  await join(network, 1, {}, honest).call(2, 'tell', { by: 'fellow' });
  expect(received).toMatchObject([{ by: 'fellow' }]);
  expect(received).toHaveLength(1);
});
