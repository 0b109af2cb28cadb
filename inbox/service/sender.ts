// Sends what was answered: recordings first, each until it has arrived, then the answer, which the service takes once however often it comes.
// One tab at a time does so (Web Locks); what is left is tried again at growing distances.
import type { Refusal } from '../form/check.ts';
import type { Message } from '../form/types.ts';
import type { Database } from '../store/database.ts';
import type { Answer, Draft, Medium } from '../store/kept.ts';
import { Refused, setFileType, submit, upload } from './api.ts';

export type Outcome = 'sent' | 'gone' | 'refused';

export interface SenderOptions {
  readonly person: Database;
  readonly lock: string;
  readonly deviceId: string;
  /** The person's; not asked for after the end of the sender, when it may be somebody else's. */
  token(): string;
  /** Tells the service that this device is the person's. */
  register(): Promise<void>;
  /** Told when an answer has left the device for good, or has come back to its draft. */
  onOutcome(answer: Answer, outcome: Outcome, refusal: string): void;
  onExpired(): void;
}

export interface Sender {
  /** There is something to send, or the connection is back. */
  wake(): void;
  close(): void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

export function openSender(options: SenderOptions): Sender {
  let timer: number | undefined;
  let waitMs = FIRST_WAIT_MS;
  let isRunning = false;
  let isAskedAgain = false;
  let isClosed = false;

  const own: SenderOptions = {
    ...options,
    token() {
      if (isClosed) throw new Error('the person has logged out');
      return options.token();
    },
  };

  const run = async (): Promise<void> => {
    if (isRunning) {
      isAskedAgain = true;
      return;
    }
    isRunning = true;
    clearTimeout(timer);
    try {
      await exclusively(options.lock, () => sendAll(own));
      waitMs = FIRST_WAIT_MS;
    } catch (error) {
      // What goes wrong after the end is no matter of whoever is logged in by then.
      if (!isClosed && error instanceof Refused && error.status === 401) options.onExpired();
      else if (!isClosed) {
        timer = setTimeout(() => void run(), waitMs);
        waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
      }
    }
    isRunning = false;
    if (isAskedAgain && !isClosed) {
      isAskedAgain = false;
      await run();
    }
  };

  return {
    wake: () => {
      waitMs = FIRST_WAIT_MS;
      void run();
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Where a browser has no locks, or refuses them with storage, two tabs may send the same: the service takes one. */
async function exclusively(name: string, work: () => Promise<void>): Promise<void> {
  if (!('locks' in navigator)) return work();
  let isBegun = false;
  try {
    await navigator.locks.request(name, () => {
      isBegun = true;
      return work();
    });
  } catch (error) {
    if (isBegun) throw error;
    await work();
  }
}

/** One that the service fails at, or has no room for, keeps none of the others. @throws Refused 401; what is to be tried again */
async function sendAll(options: SenderOptions): Promise<void> {
  const failures: unknown[] = [];
  const answers = await options.person.all<Answer>('answers');
  // Those without recordings are not to wait for uploads.
  for (const answer of answers.sort((a, b) => a.media.length - b.media.length)) {
    try {
      await send(answer, options);
    } catch (error) {
      if (!isOfOne(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** A recording that has not arrived in the time that one is given. */
class TooSlow extends Error {}

/** Whether others may still be sent: they would meet a lost connection, the end of the session (401) and the limit of a rate (429) as well. */
const isOfOne = (error: unknown): boolean =>
  error instanceof TooSlow || (error instanceof Refused && (error.status >= 500 || isFull(error)));

const isFull = ({ code, params: [quota] }: Refused): boolean => code === 'cascade.quota.exceeded' && quota === 'documentsBytes';

async function send(answer: Answer, options: SenderOptions): Promise<void> {
  const { person, token, onOutcome } = options;
  try {
    for (const name of answer.media) await uploadOnce(name, person, token());
    await submitted(answer, options);
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401 || error.status === 429 || error.status >= 500) throw error;
    if (error.code === 'cascade.notification.not.pending' || isNotFound(error, answer.messageId)) {
      await settled(answer, person);
      return onOutcome(answer, 'gone', '');
    }
    await returned(answer, error, person);
    return onOutcome(answer, 'refused', error.message);
  }
  await settled(answer, person);
  onOutcome(answer, 'sent', '');
}

/** Somebody else may have had this device meanwhile, or it was removed: it is registered, and the answer is sent once more. */
async function submitted(answer: Answer, { deviceId, token, register }: SenderOptions): Promise<void> {
  try {
    await submit(token(), deviceId, answer);
  } catch (error) {
    if (!(error instanceof Refused) || !isNotFound(error, deviceId)) throw error;
    await register();
    await submit(token(), deviceId, answer).catch((again: unknown) => {
      if (again instanceof Refused && isNotFound(again, deviceId)) throw new Error('the device was taken again');
      throw again;
    });
  }
}

const isNotFound = ({ code, params: [path] }: Refused, id: string): boolean =>
  code === 'cascade.resource.not.found' && typeof path === 'string' && path.endsWith(`/${id}`);

async function uploadOnce(name: string, person: Database, token: string): Promise<void> {
  const medium = await person.get<Medium>('media', name);
  if (!medium || medium.isUploaded) return;
  await upload(token, medium).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === 'TimeoutError' ? new TooSlow(name) : error;
  });
  const recorded = medium.blob.type.split(';', 1)[0] ?? '';
  if (/^(?:audio|video)\/webm$/.test(recorded)) await setFileType(token, name, recorded);
  await person.change(['media'], ({ put }) => put('media', name, { ...medium, isUploaded: true }));
}

/** Nothing more is kept of what has been answered. A message that has replaced it meanwhile waits, with what was entered into it. */
const settled = (answer: Answer, person: Database): Promise<void> =>
  person.change(['answers', 'drafts', 'media', 'messages', 'seen'], (write) => {
    write.delete('answers', answer.messageId);
    for (const name of answer.media) write.delete('media', name);
    write.look<Message>('messages', answer.messageId, (message) => {
      if (message && answer.sentAt !== undefined && message.createdAt !== answer.sentAt) return;
      for (const store of ['drafts', 'messages', 'seen']) write.delete(store, answer.messageId);
    });
  });

/** What the service does not accept is a draft again. */
async function returned(answer: Answer, { message, all }: Refused, person: Database): Promise<void> {
  const refused = all.flatMap(({ code, params: [id, reason], params }): Refusal[] => {
    if (code === 'cascade.notification.required.missing') return params.map((one) => ({ id: String(one), reason: 'missing' }));
    return code === 'cascade.notification.value.invalid' ? [{ id: String(id), reason: String(reason) }] : [];
  });
  const draft: Draft = { messageId: answer.messageId, values: answer.values, tab: '', refusal: message, refused };
  await person.change(['answers', 'drafts'], (write) => {
    write.delete('answers', answer.messageId);
    write.put('drafts', answer.messageId, draft);
  });
}
