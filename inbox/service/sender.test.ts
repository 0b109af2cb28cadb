// What keeps an answer back, and which others with it.
import { afterEach, expect, test, vi } from 'vitest';
import { PERSON_STORES, type Answer, type Medium } from '../store/kept.ts';
import { openMemory } from '../store/memory.ts';
import { openSender } from './sender.ts';

afterEach(() => vi.unstubAllGlobals());

const refused = (status: number, code: string, ...params: string[]): Response =>
  Response.json([{ code, message: code, severity: 'error', params }], { status });

const answerTo = (messageId: string, media: readonly string[]): Answer => ({
  messageId,
  title: messageId,
  requestId: messageId,
  submitValue: 0,
  values: {},
  location: null,
  media,
});

/** Sends two answers with a recording each; the first upload ends as given. @returns those that have left, when a round is over */
async function leftAfter(firstUpload: () => Response): Promise<string[]> {
  const person = openMemory(PERSON_STORES);
  await person.change(['answers', 'media'], ({ put }) => {
    for (const id of ['a', 'b']) {
      put('answers', id, answerTo(id, [`rcs/image/${id}.jpg`]));
      put('media', `rcs/image/${id}.jpg`, { name: `rcs/image/${id}.jpg`, blob: new Blob(['x']), isUploaded: false } satisfies Medium);
    }
  });
  const left: string[] = [];
  let uploads = 0;
  const fetch = async (path: string): Promise<Response> => {
    if (!path.endsWith('/documents')) return Response.json({});
    uploads++;
    return uploads === 1 ? firstUpload() : Response.json({});
  };
  vi.stubGlobal('fetch', fetch);
  await new Promise<void>((resolve) => {
    const request = (_name: string, work: () => Promise<void>) => work().finally(() => resolve());
    vi.stubGlobal('navigator', { locks: { request } });
    const sender = openSender({
      person,
      lock: 'lock',
      deviceId: 'tab',
      token: () => 'token',
      register: async () => undefined,
      onOutcome: ({ messageId }) => void left.push(messageId),
      onExpired: () => undefined,
    });
    sender.wake();
    sender.close(); // no second round
  });
  return left;
}

test.each<[string, () => Response, string[]]>([
  ['the documents are full', () => refused(429, 'cascade.quota.exceeded', 'documentsBytes'), ['b']],
  ['the service fails at it', () => refused(500, 'cascade.internal'), ['b']],
  [
    'it takes too long',
    () => {
      throw new DOMException('too long', 'TimeoutError');
    },
    ['b'],
  ],
  ['the rate of requests is exceeded', () => refused(429, 'cascade.quota.exceeded', 'requestsPerSecond'), []],
  [
    'the connection is lost',
    () => {
      throw new TypeError('no connection');
    },
    [],
  ],
  ['the session has ended', () => refused(401, 'cascade.authentication.required'), []],
])('of two answers, when at the upload of the first %s, those leave: %#', async (_what, firstUpload, expected) => {
  expect(await leftAfter(firstUpload)).toEqual(expected);
});
