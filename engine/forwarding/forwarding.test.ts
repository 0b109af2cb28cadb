// Requests between two processes over a bus: what is lent for one is given back however it ends, and its end by the client reaches the owner.
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import type { ApiReply, ApiRequest } from '../../resources/api.ts';
import { apiError, type CascadeError } from '../../model/errors/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { openLocalNetwork } from '../../platform/bus/index.ts';
import { Calls } from '../../runtime/cluster/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import { failureHead, failureOf } from './codec.ts';
import { Forwarding, type LocalEngine } from './forwarding.ts';
import type { Routes } from './routes.ts';

const FRONT = 1;
const OWNER = 2;
const opened: Calls[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

/** @param execute what the owner does with a request */
function pair(execute: (request: ApiRequest) => Promise<ApiReply>) {
  const network = openLocalNetwork();
  const secret = randomBytes(32);
  const accept = async (): Promise<ApiReply> => Promise.reject(apiError('cascade.resource.not.found', 'x'));
  const local = { execute: (_space, request) => execute(request), accept } as Partial<LocalEngine> as LocalEngine;
  const routes = { at: (_name: string, _here: unknown, there: (owner: number) => Promise<unknown>) => there(OWNER) } as unknown as Routes;
  const [front, owner] = [FRONT, OWNER].map((epoch) => {
    const forwarding: Forwarding = new Forwarding(local, routes, () => calls);
    const calls: Calls = new Calls({
      bus: network.connect(),
      installation: 'test',
      secret,
      epoch,
      handlers: forwarding.handlers((_name, work) => work({} as OpenNamespace)),
      toFailure: failureHead,
      fromFailure: failureOf,
      onLook: () => undefined,
    });
    opened.push(calls);
    calls.onDrop((gone) => forwarding.dropped(gone));
    const lent = new Set<number>();
    const { lend, unlend } = calls;
    calls.lend = (to, stream) => {
      const id = lend.call(calls, to, {
        next: () => stream.next(),
        async close() {
          lent.delete(id);
          await stream.close();
        },
      });
      lent.add(id);
      return id;
    };
    calls.unlend = (to, id) => {
      lent.delete(id);
      return unlend.call(calls, to, id);
    };
    return { forwarding, calls, lent };
  }) as unknown as [Side, Side];
  return { front, owner };
}
interface Side {
  readonly forwarding: Forwarding;
  readonly calls: Calls;
  readonly lent: ReadonlySet<number>;
}

const request = (rest: Partial<ApiRequest> = {}): ApiRequest => ({
  identity: { username: 'ann', namespace: 'shop', profiles: [] },
  op: 'insert',
  resourceName: 'documents',
  custom: false,
  parameters: {},
  ...rest,
});

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('content');
}
async function* parts() {
  for (const name of ['a', 'b']) yield { name, fileType: null, bytes: bytes() };
}

test('an upload that is refused, read or not, and a message to a source that is not there leave nothing lent', async () => {
  const { front } = pair(async ({ transfer, resourceId }) => {
    if (resourceId === 'heads' && transfer?.kind === 'upload') for await (const { name } of transfer.parts) expect(name).toMatch(/[ab]/);
    throw apiError('cascade.authorization.denied', 'insert', 'documents');
  });
  const refused = { code: 'cascade.authorization.denied' };
  for (const resourceId of ['none', 'heads']) {
    const upload = request({ resourceId, transfer: { kind: 'upload', parts: parts(), limitBytes: 100 } });
    await expect(front.forwarding.execute(upload)).rejects.toMatchObject(refused);
  }
  const arrival = { protocol: 'webhook', source: 'x', headers: {}, address: '::1', body: () => Buffer.from('{}') };
  await expect(front.forwarding.accept('shop', arrival)).rejects.toMatchObject({ code: 'cascade.resource.not.found' });
  expect(front.lent.size).toBe(0);
});

test('a download that is not opened is given back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const content = { fileType: 'text/plain', sizeBytes: 1, digest: 'd', open: () => expect.unreachable() };
    const { front, owner } = pair(async () => ({ status: 200, content }));
    const asking = front.forwarding.execute(request({ op: 'select', transfer: { kind: 'download' } }));
    let isAnswered = false;
    void asking.then(() => (isAnswered = true));
    await vi.waitFor(() => expect(isAnswered).toBe(true));
    expect(owner.lent.size).toBe(1);
    vi.advanceTimersByTime(10_000);
    await vi.waitFor(() => expect(owner.lent.size).toBe(0));
  } finally {
    vi.useRealTimers();
  }
});

test('a long result for a process that is gone is closed', async () => {
  let isClosed = false;
  const pieces = { next: async () => null, close: async () => void (isClosed = true) };
  const { front, owner } = pair(async () => {
    owner.calls.drop(FRONT);
    return { status: 200, pieces };
  });
  const asking = front.forwarding.execute(request({ op: 'select' }));
  asking.catch(() => undefined); // nobody answers
  await vi.waitFor(() => expect(isClosed).toBe(true));
});

test('what ends with who asks does so at the owner, when the client goes and when its process does', async () => {
  const begun: (AbortSignal | undefined)[] = [];
  const { front, owner } = pair(({ signal }) => {
    begun.push(signal);
    return new Promise((_, reject) =>
      signal?.addEventListener('abort', () => reject(apiError('cascade.server.unavailable')), { once: true }),
    );
  });
  const leaving = new AbortController();
  const left = front.forwarding.execute(request({ op: 'execute', signal: leaving.signal }));
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  leaving.abort();
  await expect(left).rejects.toMatchObject({ code: 'cascade.server.unavailable' });
  front.forwarding.execute(request({ op: 'execute', signal: new AbortController().signal })).catch(() => undefined);
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  owner.calls.drop(FRONT);
  await vi.waitFor(() => expect(begun[1]?.aborted).toBe(true));
});

test('a long body comes as it was sent', async () => {
  const object = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `\u0001s${n}`, big: 2n ** 62n }));
  const { front } = pair(async (asked) => ({
    status: 200,
    body: JSON.stringify(
      asked.object === undefined
        ? null
        : [
            (asked.object as unknown[]).length,
            String((asked.object as { big: bigint }[])[19_999]?.big),
            (asked.object as { text: string }[])[7]?.text,
          ],
    ),
  }));
  const { body } = await front.forwarding.execute(request({ object }));
  expect(JSON.parse(body ?? '')).toEqual([20_000, String(2n ** 62n), '\u0001s7']);
});

// spec: resources-and-api.md 5.5
test('numbers come with all digits that a client wrote, in parameters too, whether the body is long or not', async () => {
  const where = parseJson('{"d":12345678901234567890.12}');
  for (const length of [1, 20_000]) {
    const object = parseJson(`[${Array.from({ length }, (_, n) => `0.12345678901234567${n + 1}`).join(',')}]`);
    let came: Partial<ApiRequest> = {};
    const { front } = pair(async (asked) => {
      came = asked;
      return { status: 200 };
    });
    await front.forwarding.execute(request({ object, parameters: { where } }));
    expect([came.object, came.parameters]).toStrictEqual([object, { where }]);
  }
});

// spec: resources-and-api.md 1.7 2.3; integrations.md 13
test('an error of the owner says to the client here what it says to the clients there, in headers, too', async () => {
  const errors = [
    Object.assign(apiError('cascade.execution.suspended', '/procedures/p'), { retryAfterSeconds: 12 }),
    Object.assign(apiError('cascade.method.not.allowed', 'PUT', 'audits'), { offered: new Set(['select', 'aggregate']) }),
    apiError('cascade.resource.not.found', '/types/none'),
  ];
  for (const error of errors) {
    const { front } = pair(() => Promise.reject(error));
    const answer = front.forwarding.execute(request());
    await expect(answer).rejects.toEqual(error);
    const { offered, retryAfterSeconds } = (await answer.catch((given: unknown) => given)) as CascadeError;
    expect([offered, retryAfterSeconds]).toEqual([error.offered, error.retryAfterSeconds]);
  }
});
