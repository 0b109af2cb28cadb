// What keeps an answer back, and which others with it.
import { afterEach, expect, test, vi } from 'vitest';
import { type Answer, type Draft, type Medium, PERSON_STORES } from '../store/kept.ts';
import type { Database } from '../store/database.ts';
import { openMemory } from '../store/memory.ts';
import { openSender, type Sender } from './sender.ts';

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

/** Sends what is kept, once. @returns the messages whose answers have left, or have come back */
async function round(person: Database, fetch: (path: string, sender: Sender) => Promise<Response>): Promise<string[]> {
  const left: string[] = [];
  vi.stubGlobal('fetch', (path: string) => fetch(path, sender));
  let sender: Sender;
  await new Promise<void>((resolve) => {
    const request = (_name: string, work: () => Promise<void>) =>
      work().finally(() => {
        sender.close(); // no second round
        resolve();
      });
    vi.stubGlobal('navigator', { locks: { request } });
    sender = openSender({
      person,
      lock: 'lock',
      deviceId: 'tab',
      token: () => 'token',
      register: async () => undefined,
      onOutcome: ({ messageId }) => void left.push(messageId),
      onExpired: () => undefined,
    });
    sender.wake();
  });
  return left;
}

/** Of two answers with a recording each; the first upload ends as given. */
async function leftAfter(firstUpload: () => Response): Promise<string[]> {
  const person = openMemory(PERSON_STORES);
  await person.change(['answers', 'media'], ({ put }) => {
    for (const id of ['a', 'b']) {
      put('answers', id, answerTo(id, [`rcs/image/${id}.jpg`]));
      put('media', `rcs/image/${id}.jpg`, { name: `rcs/image/${id}.jpg`, blob: new Blob(['x']), isUploaded: false } satisfies Medium);
    }
  });
  let uploads = 0;
  return round(person, async (path) => {
    if (!path.endsWith('/documents')) return Response.json({});
    uploads++;
    return uploads === 1 ? firstUpload() : Response.json({});
  });
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

test.each<[() => Response, Draft['refused']]>([
  [() => refused(400, 'cascade.notification.required.missing', 's', 'photo'), ['s', 'photo'].map((id) => ({ id, reason: 'missing' }))],
  [() => refused(400, 'cascade.notification.value.invalid', 'n', 'range'), [{ id: 'n', reason: 'range' }]],
  [() => refused(400, 'cascade.notification.submit.value', '9'), []],
])('an answer that is refused comes back as a draft that says which fields are wrong, and why: %#', async (reply, fields) => {
  const person = openMemory(PERSON_STORES);
  await person.change(['answers'], ({ put }) => put('answers', 'a', answerTo('a', [])));
  expect(await round(person, async () => reply())).toEqual(['a']);
  expect([await person.all('answers'), await person.get<Draft>('drafts', 'a')]).toMatchObject([[], { messageId: 'a', refused: fields }]);
});

test('what is kept of a message goes with its answer, and stays where another form has taken its place', async () => {
  const person = openMemory(PERSON_STORES);
  const sentAt = '2031-02-03T04:05:06.000Z';
  await person.change(['answers', 'messages', 'drafts'], ({ put }) => {
    for (const [id, createdAt] of Object.entries({ same: sentAt, replaced: '2031-02-03T04:05:07.000Z' })) {
      put('answers', id, { ...answerTo(id, []), sentAt });
      put('messages', id, { messageId: id, createdAt });
      put('drafts', id, { messageId: id });
    }
  });
  await round(person, async () => refused(409, 'cascade.notification.not.pending', 'a'));
  expect([await person.keys('answers'), await person.keys('messages'), await person.keys('drafts')]).toEqual([
    [],
    ['replaced'],
    ['replaced'],
  ]);
});

test('after a logout nothing more is sent, which would be as the next person, also where storage is blocked', async () => {
  const person = openMemory(PERSON_STORES);
  await person.change(['answers', 'media'], ({ put }) => {
    for (const id of ['a', 'b', 'c']) put('answers', id, answerTo(id, id === 'c' ? ['rcs/image/c.jpg'] : []));
    put('media', 'rcs/image/c.jpg', { name: 'rcs/image/c.jpg', blob: new Blob(['x']), isUploaded: false } satisfies Medium);
  });
  const asked: string[] = [];
  await round(person, async (path, sender) => {
    asked.push(path);
    sender.close();
    return Response.json({});
  });
  expect(asked).toEqual([expect.stringContaining('/a/submit')]);
  expect(await person.keys('answers')).toEqual(['b', 'c']);
});
