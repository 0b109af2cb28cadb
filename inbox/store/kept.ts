// What is kept of a person on this device: messages that wait, drafts, answers that are to be sent, recordings that are to be uploaded.
import { newUuid } from './uuid.ts';
import type { Refusal } from '../form/check.ts';
import type { Entered, Message } from '../form/types.ts';
import type { Database } from './database.ts';
import type { Databases } from './databases.ts';

export interface Session {
  readonly token: string;
  readonly username: string;
  readonly shownName: string;
  readonly namespace: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface Draft {
  readonly messageId: string;
  readonly values: Entered;
  /** The tab that has written it; '' for what the service has sent back. */
  readonly tab: string;
  /** Why the service has not accepted it; '' where it has not been asked. */
  readonly refusal: string;
  /** Fields that the service has found wrong. */
  readonly refused: readonly Refusal[];
}

/** An answer on its way. There is one for a message or none, so what is tapped twice is sent once. */
export interface Answer {
  readonly messageId: string;
  readonly title: string;
  /** Of the form that was answered: a message that replaces it is another one. Not in answers that an earlier page has kept. */
  readonly sentAt?: string;
  /** The service answers a repeated request of the same id from its record. */
  readonly requestId: string;
  readonly submitValue: number | bigint;
  readonly values: Entered;
  readonly location: { longitude: number; latitude: number } | null;
  /** Documents that it names and that may not have been uploaded yet. */
  readonly media: readonly string[];
}

/** A recording. */
export interface Medium {
  readonly name: string;
  readonly blob: Blob;
  readonly isUploaded: boolean;
}

export const PERSON_STORES = ['messages', 'drafts', 'answers', 'media', 'seen'] as const;
export type PersonStore = (typeof PERSON_STORES)[number];

export const openDevice = (databases: Databases): Promise<Database> => databases.open('cascade-inbox', ['settings']);

/** What the service knows this browser by: made when it is first asked for. */
export async function deviceIdIn(device: Database): Promise<string> {
  const known = await device.get<string>('settings', 'deviceId');
  if (known !== undefined) return known;
  const made = newUuid();
  await device.change(['settings'], ({ put }) => put('settings', 'deviceId', made));
  return made;
}

export const personDatabase = ({ namespace, username }: Session): string => `cascade-inbox/${namespace}/${username}`;

export const openPerson = (databases: Databases, session: Session): Promise<Database> =>
  databases.open(personDatabase(session), PERSON_STORES);

export interface Kept {
  readonly messages: readonly Message[];
  readonly drafts: ReadonlyMap<string, Draft>;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly seen: ReadonlySet<string>;
}

export const NOTHING_KEPT: Kept = { messages: [], drafts: new Map(), answers: new Map(), seen: new Set() };

/** Recordings that the draft of a message names; none while its answer, which needs them, is on its way. */
export function recordingsOf({ answers, drafts }: Kept, messageId: string): string[] {
  const values = answers.has(messageId) ? [] : Object.values(drafts.get(messageId)?.values ?? {});
  return values.filter((value): value is string => typeof value === 'string' && value.startsWith('rcs/'));
}

/** @param stores of which it is read */
export async function readKept(person: Database, stores: readonly PersonStore[]): Promise<Partial<Kept>> {
  const parts = await Promise.all(stores.flatMap((store) => READERS[store]?.(person) ?? []));
  return Object.assign({}, ...parts) as Partial<Kept>;
}

const READERS: { readonly [S in PersonStore]?: (person: Database) => Promise<Partial<Kept>> } = {
  async messages(person) {
    const messages = await person.all<Message>('messages');
    return { messages: messages.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0)) };
  },
  drafts: async (person) => ({ drafts: new Map((await person.all<Draft>('drafts')).map((draft) => [draft.messageId, draft])) }),
  answers: async (person) => ({ answers: new Map((await person.all<Answer>('answers')).map((answer) => [answer.messageId, answer])) }),
  seen: async (person) => ({ seen: new Set(await person.keys('seen')) }),
};

/** Reads once what has changed often while it was being read: a person may have thousands of messages. */
export class KeptReader {
  readonly #person: () => Database | null;
  readonly #show: (kept: Partial<Kept>) => void;
  readonly #stale = new Set<PersonStore>();
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** @param show is given what was read, unless somebody else has logged in meanwhile */
  constructor(person: () => Database | null, show: (kept: Partial<Kept>) => void) {
    this.#person = person;
    this.#show = show;
  }

  /** @returns when it is shown as it was at the call, or later */
  read(stores: readonly PersonStore[]): Promise<void> {
    for (const store of stores) this.#stale.add(store);
    this.#next ??= this.#current
      .catch(() => undefined) // told to those who waited for it
      .then(() => {
        this.#next = null;
        this.#current = this.#readNow();
        return this.#current;
      });
    return this.#next;
  }

  async #readNow(): Promise<void> {
    const person = this.#person();
    const stores = [...this.#stale];
    this.#stale.clear();
    if (!person) return;
    try {
      const kept = await readKept(person, stores);
      if (this.#person() === person) this.#show(kept);
    } catch (error) {
      if (this.#person() === person) throw error; // else it was closed while it was read
    }
  }
}
