// What is kept of a person on this device: messages that wait, drafts, answers that are to be sent, recordings that are to be uploaded.
import type { Entered, Message } from '../form/types.ts';
import { type Database, openDatabase } from './database.ts';

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
  readonly refused: readonly string[];
}

/** An answer on its way. There is one for a message or none, so what is tapped twice is sent once. */
export interface Answer {
  readonly messageId: string;
  readonly title: string;
  /** The service answers a repeated request of the same id from its record. */
  readonly requestId: string;
  readonly submitValue: number;
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

const PERSON_STORES = ['messages', 'drafts', 'answers', 'media', 'seen'] as const;
export type PersonStore = (typeof PERSON_STORES)[number];

export const openDevice = (): Promise<Database> => openDatabase('cascade-inbox', ['settings']);

export const personDatabase = ({ namespace, username }: Session): string => `cascade-inbox/${namespace}/${username}`;

export const openPerson = (session: Session): Promise<Database> => openDatabase(personDatabase(session), PERSON_STORES);

export interface Kept {
  readonly messages: readonly Message[];
  readonly drafts: ReadonlyMap<string, Draft>;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly seen: ReadonlySet<string>;
}

export const NOTHING_KEPT: Kept = { messages: [], drafts: new Map(), answers: new Map(), seen: new Set() };

export async function readKept(person: Database): Promise<Kept> {
  const [messages, drafts, answers, seen] = await Promise.all([
    person.all<Message>('messages'),
    person.all<Draft>('drafts'),
    person.all<Answer>('answers'),
    person.keys('seen'),
  ]);
  return {
    messages: messages.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0)),
    drafts: new Map(drafts.map((draft) => [draft.messageId, draft])),
    answers: new Map(answers.map((answer) => [answer.messageId, answer])),
    seen: new Set(seen),
  };
}
