// The state of the page: who is logged in, what waits, what is kept, what is on its way. Views read a snapshot and call its methods.
import { type JsonObject, isObject, own, type Entered, type Message, textOf } from './form/types.ts';
import * as api from './service/api.ts';
import { listen, type Live, type LiveState } from './service/live.ts';
import { openSender, type Outcome, type Sender } from './service/sender.ts';
import { type Database, deleteDatabase } from './store/database.ts';
import { type Answer, type Kept, type Medium, NOTHING_KEPT, openPerson, personDatabase, readKept, type Session } from './store/kept.ts';
import { newUuid } from './store/uuid.ts';
import type { Text } from './texts/index.ts';

export interface Notice {
  readonly text: Text;
  readonly params: readonly string[];
}

export interface Snapshot {
  readonly session: Session | null;
  /** The session's token is no longer taken: the person has to log in again, and keeps everything. */
  readonly isExpired: boolean;
  readonly kept: Kept;
  readonly live: LiveState;
  /** Whether the list is as the service has it, or as it was kept. */
  readonly isFresh: boolean;
  readonly notice: Notice | null;
}

/** A token is renewed when it has less than this left of its day. */
const RENEW_BEFORE_MS = 12 * 60 * 60 * 1_000;
const RENEW_EVERY_MS = 10 * 60 * 1_000;
const [EXPIRY_MARGIN_MS, AFTER_EXPIRY_MS, LONGEST_WATCH_MS] = [500, 30_000, 60 * 60 * 1_000];

export class Inbox {
  readonly #device: Database;
  readonly deviceId: string;
  /** Which of the browser's tabs this is. */
  readonly tab = newUuid();
  readonly #changed = new Set<() => void>();
  /** Tells the other tabs that what is kept has changed. */
  readonly #tabs = new BroadcastChannel('cascade-inbox');
  #person: Database | null = null;
  #live: Live | null = null;
  #sender: Sender | null = null;
  #renewing: number | undefined;
  #expiring: number | undefined;
  snapshot: Snapshot = { session: null, isExpired: false, kept: NOTHING_KEPT, live: 'connecting', isFresh: false, notice: null };

  private constructor(device: Database, deviceId: string) {
    this.#device = device;
    this.deviceId = deviceId;
    this.#tabs.onmessage = () => void this.#otherTab();
    addEventListener('online', () => {
      this.#live?.hurry();
      this.#sender?.wake();
    });
  }

  static async open(device: Database): Promise<Inbox> {
    let deviceId = await device.get<string>('settings', 'deviceId');
    if (deviceId === undefined) {
      deviceId = newUuid();
      await device.change(['settings'], ({ put }) => put('settings', 'deviceId', deviceId));
    }
    const inbox = new Inbox(device, deviceId);
    const session = await device.get<Session>('settings', 'session');
    if (session) await inbox.#begin(session);
    return inbox;
  }

  onChange(changed: () => void): () => void {
    this.#changed.add(changed);
    return () => this.#changed.delete(changed);
  }

  /** @throws api.Refused; TypeError */
  async logIn(credentials: api.Credentials): Promise<void> {
    const session = await api.logIn(credentials);
    await this.#device.change(['settings'], ({ put }) => put('settings', 'session', session));
    await this.#end();
    await this.#begin(session);
    this.#tabs.postMessage('session');
  }

  /** What is kept of the person goes with it. */
  async logOut(): Promise<void> {
    const { session } = this.snapshot;
    if (!session) return;
    await this.#end();
    await this.#device.change(['settings'], (write) => write.delete('settings', 'session'));
    await deleteDatabase(personDatabase(session));
    this.#tabs.postMessage('session');
    this.#show({ session: null, isExpired: false, kept: NOTHING_KEPT, isFresh: false, notice: null });
    // Offline the token ends with its day, and the device goes to whoever logs in here next.
    await api.unregisterDevice(session.token, this.deviceId).catch(() => undefined);
    await api.endSession(session.token).catch(() => undefined);
  }

  async keepDraft(messageId: string, values: Entered): Promise<void> {
    await this.#change(['drafts'], ({ put }) => put('drafts', messageId, { messageId, values, tab: this.tab, refusal: '', refused: [] }));
  }

  async keepMedium(name: string, blob: Blob): Promise<void> {
    const medium: Medium = { name, blob, isUploaded: false };
    await this.#change(['media'], ({ put }) => put('media', name, medium));
  }

  medium(name: string): Promise<Medium | undefined> {
    return this.#person?.get<Medium>('media', name) ?? Promise.resolve(undefined);
  }

  /** Hands the answer to the sender. @returns false: one is on its way already */
  async answer(answer: Answer): Promise<boolean> {
    try {
      await this.#change(['answers'], ({ add }) => add('answers', answer.messageId, answer));
    } catch (error) {
      if (error instanceof DOMException && error.name === 'ConstraintError') return false;
      throw error;
    }
    if (this.snapshot.live !== 'open') this.#show({ notice: { text: 'kept', params: [] } });
    this.#sender?.wake();
    return true;
  }

  async open(messageId: string): Promise<void> {
    if (this.snapshot.kept.seen.has(messageId)) return;
    await this.#change(['seen'], ({ put }) => put('seen', messageId, true));
    await api.mark(this.#token(), messageId, 'read').catch(() => undefined); // it is a courtesy: the sender sees it later or never
  }

  /** @throws api.Refused; TypeError: it is still there */
  async dismiss(messageId: string): Promise<void> {
    await api.mark(this.#token(), messageId, 'dismiss');
    await this.#forget(messageId);
  }

  documentBytes(name: string): Promise<Blob> {
    return api.documentBytes(this.#token(), name);
  }

  pushKey(): Promise<string | null> {
    return api.pushKey(this.#token());
  }

  async registerForPush(token: string): Promise<void> {
    await this.#device.change(['settings'], ({ put }) => put('settings', 'push', token));
    await this.#register();
  }

  setting<T>(name: string): Promise<T | undefined> {
    return this.#device.get<T>('settings', name);
  }

  async keepSetting(name: string, value: unknown): Promise<void> {
    await this.#device.change(['settings'], ({ put }) => put('settings', name, value));
  }

  say(text: Text, ...params: string[]): void {
    this.#show({ notice: { text, params } });
  }

  hush(): void {
    if (this.snapshot.notice) this.#show({ notice: null });
  }

  #token(): string {
    return this.snapshot.session?.token ?? '';
  }

  async #begin(session: Session): Promise<void> {
    const person = await openPerson(session);
    this.#person = person;
    this.#show({ session, isExpired: false, kept: await readKept(person), isFresh: false, live: 'connecting' });
    this.#sender = openSender({
      person,
      lock: personDatabase(session),
      deviceId: this.deviceId,
      token: () => this.#token(),
      onOutcome: (answer, outcome) => void this.#settled(answer, outcome),
      onExpired: () => this.#expired(),
    });
    void this.#connect();
    this.#renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    await this.#renew();
    this.#sender.wake();
  }

  async #end(): Promise<void> {
    clearInterval(this.#renewing);
    clearTimeout(this.#expiring);
    this.#live?.close();
    this.#sender?.close();
    this.#person?.close();
    this.#person = null;
    this.#live = null;
  }

  /** The device must be known before it can listen; without a connection that is tried again. */
  async #connect(): Promise<void> {
    try {
      await this.#register();
    } catch (error) {
      if (error instanceof api.Refused && error.status === 401) return this.#expired();
    }
    if (!this.#person || this.#live) return;
    this.#live = listen(() => this.#token(), this.deviceId, {
      state: (live) => void this.#liveState(live),
      event: (value) => void this.#event(value),
    });
  }

  async #register(): Promise<void> {
    const token = (await this.setting<string>('push')) ?? null;
    const deviceName = navigator.userAgent.slice(0, 128);
    await api.registerDevice(this.#token(), { deviceId: this.deviceId, deviceName, locale: navigator.language, token });
  }

  async #liveState(live: LiveState): Promise<void> {
    if (live === 'expired') return this.#expired();
    this.#show({ live });
    if (live === 'connecting') {
      if (navigator.onLine && this.#person) await this.#register().catch(() => undefined);
      return;
    }
    this.#sender?.wake();
    await this.#readAll().catch(() => this.#show({ isFresh: false }));
  }

  /** What waits is what the service says, but for what was answered here meanwhile. */
  async #readAll(): Promise<void> {
    const { session } = this.snapshot;
    if (!session) return;
    const messages = (await api.pendingMessages(session.token, session.username)).map(messageOfRow);
    const pending = new Set(messages.map(({ messageId }) => messageId));
    const gone = this.snapshot.kept.messages.filter(({ messageId }) => !pending.has(messageId)).map(({ messageId }) => messageId);
    await this.#change(['messages', 'drafts', 'seen'], (write) => {
      for (const id of gone) for (const store of ['messages', 'drafts', 'seen']) write.delete(store, id);
      for (const message of messages) write.put('messages', message.messageId, message);
    });
    this.#show({ isFresh: true });
    this.#watchExpiry();
  }

  /** Asks what waits when the next message should have expired: that is for the service to say, whose clock may differ from ours. */
  #watchExpiry(): void {
    clearTimeout(this.#expiring);
    const times = this.snapshot.kept.messages.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [Date.parse(expiresAt)]));
    const next = Math.min(...times.filter((time) => !Number.isNaN(time)));
    if (next === Number.POSITIVE_INFINITY) return;
    const waitMs = next - Date.now();
    const inBounds = waitMs < 0 ? AFTER_EXPIRY_MS : Math.min(waitMs, LONGEST_WATCH_MS) + EXPIRY_MARGIN_MS;
    this.#expiring = setTimeout(() => void this.#readAll().catch(() => this.#watchExpiry()), inBounds);
  }

  async #event(value: JsonObject): Promise<void> {
    const [kind, messageId] = [textOf(value, 'kind'), textOf(value, 'messageId')];
    if (kind === 'notify') {
      const message = messageOfEvent(value);
      await this.#change(['messages'], ({ put }) => put('messages', messageId, message));
      return this.#watchExpiry();
    }
    const known = this.snapshot.kept.messages.find((message) => message.messageId === messageId);
    if (!known) return;
    await this.#forget(messageId);
    if (!this.snapshot.kept.answers.has(messageId)) this.say(kind === 'retract' ? 'withdrawn' : 'answeredElsewhere', known.title);
  }

  #forget(messageId: string): Promise<void> {
    return this.#change(['messages', 'drafts', 'seen'], (write) => {
      for (const store of ['messages', 'drafts', 'seen']) write.delete(store, messageId);
    });
  }

  async #settled(answer: Answer, outcome: Outcome): Promise<void> {
    await this.#readKept();
    this.#tabs.postMessage('kept');
    this.say(outcome === 'sent' ? 'sent' : outcome === 'gone' ? 'gone' : 'notAccepted', answer.title);
  }

  async #renew(): Promise<void> {
    const { session } = this.snapshot;
    if (!session || Date.parse(session.expiresAt) - Date.now() > RENEW_BEFORE_MS) return;
    try {
      const renewed = await api.renew(session.token);
      await this.keepSetting('session', renewed);
      this.#show({ session: renewed });
      this.#tabs.postMessage('session');
    } catch (error) {
      if (error instanceof api.Refused && error.status === 401) this.#expired();
    }
  }

  #expired(): void {
    this.#live?.close();
    this.#live = null;
    this.#show({ isExpired: true, live: 'expired' });
  }

  /** Another tab has changed what is kept, or who is logged in. */
  async #otherTab(): Promise<void> {
    const session = (await this.setting<Session>('session')) ?? null;
    const { session: before } = this.snapshot;
    if (session && before && personDatabase(session) === personDatabase(before) && session.token === before.token) return this.#readKept();
    await this.#end();
    if (session) return this.#begin(session);
    this.#show({ session: null, kept: NOTHING_KEPT, isFresh: false });
  }

  async #change(stores: readonly string[], changes: Parameters<Database['change']>[1]): Promise<void> {
    await this.#person?.change(stores, changes);
    await this.#readKept();
    this.#tabs.postMessage('kept');
  }

  async #readKept(): Promise<void> {
    if (this.#person) this.#show({ kept: await readKept(this.#person) });
  }

  #show(changes: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...changes };
    for (const changed of this.#changed) changed();
  }
}

const payloadOf = (source: JsonObject): JsonObject => {
  const payload = own(source, 'payload');
  return isObject(payload) ? payload : {};
};

const messageOfRow = (row: JsonObject): Message => ({
  messageId: textOf(row, '_id'),
  title: textOf(row, 'title'),
  category: textOf(row, 'category'),
  payload: payloadOf(row),
  createdAt: textOf(row, 'sentAt'),
  expiresAt: textOf(row, 'expiresAt') || null,
});

const messageOfEvent = (value: JsonObject): Message => ({
  messageId: textOf(value, 'messageId'),
  title: textOf(value, 'title'),
  category: textOf(value, 'category'),
  payload: payloadOf(value),
  createdAt: textOf(value, 'createdAt'),
  expiresAt: textOf(value, 'expiresAt') || null,
});
