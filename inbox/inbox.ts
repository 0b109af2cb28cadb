// The state of the page: who is logged in, what waits, what is kept, what is on its way. Views read a snapshot and call its methods.
import { type JsonObject, type Entered, type Message, textOf } from './form/types.ts';
import * as api from './service/api.ts';
import { listen, type Live, type LiveState } from './service/live.ts';
import type { Snapshot } from './snapshot.ts';
import { messageOfEvent, messageOfRow, untilExpiry } from './service/messages.ts';
import { endNotifications, presentSubscription } from './service/notifications.ts';
import { openSender, type Outcome, type Sender } from './service/sender.ts';
import type { Database, Writer } from './store/database.ts';
import type { Databases } from './store/databases.ts';
import {
  type Answer,
  deviceIdIn,
  KeptReader,
  type Medium,
  NOTHING_KEPT,
  openDevice,
  openPerson,
  personDatabase,
  PERSON_STORES,
  type PersonStore,
  readKept,
  recordingsOf,
  type Session,
} from './store/kept.ts';
import type { Text } from './texts/index.ts';
import { newUuid } from './store/uuid.ts';

/** What a tab tells the others: who is logged in has changed, or what is kept. */
type TabMessage =
  | { readonly isSession: true }
  | { readonly isSession: false; readonly stores: readonly PersonStore[]; readonly about: string };

/** A token is renewed when it has less than this left of its day. */
const RENEW_BEFORE_MS = 12 * 60 * 60 * 1_000;
const RENEW_EVERY_MS = 10 * 60 * 1_000;

export class Inbox {
  readonly databases: Databases;
  readonly #device: Database;
  readonly deviceId: string;
  /** Which of the browser's tabs this is. */
  readonly tab = newUuid();
  readonly #changed = new Set<() => void>();
  readonly #tabs = new BroadcastChannel('cascade-inbox');
  #person: Database | null = null;
  #live: Live | null = null;
  #sender: Sender | null = null;
  /** Logins and their ends, one after the other: each takes several steps. */
  #turns: Promise<void> = Promise.resolve();
  readonly #reader = new KeptReader(
    () => this.#person,
    (kept) => this.#show({ kept: { ...this.snapshot.kept, ...kept } }),
  );
  /** One for each time that the list is being read: messages that something has happened to meanwhile, which is newer. */
  readonly #touched = new Set<Set<string>>();
  #renewing: number | undefined;
  #expiring: number | undefined;
  snapshot: Snapshot = { session: null, isExpired: false, kept: NOTHING_KEPT, live: 'connecting', isFresh: false, notice: null };

  private constructor(databases: Databases, device: Database, deviceId: string) {
    this.databases = databases;
    this.#device = device;
    this.deviceId = deviceId;
    this.#tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => void this.#inTurn(() => this.#otherTab(data));
    addEventListener('online', () => {
      this.#live?.hurry();
      this.#sender?.wake();
    });
  }

  static async open(databases: Databases): Promise<Inbox> {
    const device = await openDevice(databases);
    const inbox = new Inbox(databases, device, await deviceIdIn(device));
    const session = await device.get<Session>('settings', 'session');
    if (session) await inbox.#inTurn(() => inbox.#begin(session));
    return inbox;
  }

  onChange(changed: () => void): () => void {
    this.#changed.add(changed);
    return () => this.#changed.delete(changed);
  }

  /** @throws api.Refused; TypeError */
  async logIn(credentials: api.Credentials): Promise<void> {
    const session = await api.logIn(credentials);
    await this.#inTurn(async () => {
      await this.#device.change(['settings'], ({ put }) => put('settings', 'session', session));
      await this.#end();
      await this.#begin(session);
    });
    this.#tell({ isSession: true });
  }

  /** What is kept of the person goes with it. */
  async logOut(): Promise<void> {
    const { session } = this.snapshot;
    if (!session) return;
    await this.#inTurn(async () => {
      await this.#end();
      await this.#device.change(['settings'], (write) => ['session', 'push'].forEach((name) => write.delete('settings', name)));
      await this.databases.delete(personDatabase(session));
      this.#show({ session: null, isExpired: false, kept: NOTHING_KEPT, isFresh: false, notice: null });
    });
    this.#tell({ isSession: true });
    // Offline the token ends with its day, and the device goes to whoever logs in here next.
    await Promise.allSettled([endNotifications(), api.unregisterDevice(session.token, this.deviceId)]);
    await api.endSession(session.token).catch(() => undefined);
  }

  /** Names who is logged in; '' for nobody. What takes a while is given the one that it was begun for, and ends with that one. */
  get person(): string {
    return this.snapshot.session ? personDatabase(this.snapshot.session) : '';
  }

  async keepDraft(person: string, messageId: string, values: Entered): Promise<void> {
    if (this.person !== person) return;
    const dropped = recordingsOf(this.snapshot.kept, messageId).filter((name) => !Object.values(values).includes(name));
    await this.#change(['drafts', 'media'], (write) => {
      write.put('drafts', messageId, { messageId, values, tab: this.tab, refusal: '', refused: [] });
      for (const name of dropped) write.delete('media', name);
    });
  }

  async keepMedium(person: string, name: string, blob: Blob): Promise<void> {
    if (this.person !== person) return;
    const medium: Medium = { name, blob, isUploaded: false };
    await this.#change(['media'], ({ put }) => put('media', name, medium));
  }

  medium(name: string): Promise<Medium | undefined> {
    return this.#person?.get<Medium>('media', name) ?? Promise.resolve(undefined);
  }

  /** Hands the answer to the sender. @returns false: one is on its way already, or somebody else is logged in */
  async answer(person: string, answer: Answer): Promise<boolean> {
    await this.#turns;
    if (this.person !== person) return false;
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

  async open(message: Message): Promise<void> {
    const { messageId } = message;
    if (this.snapshot.kept.seen.has(messageId)) return;
    const token = this.#token();
    await this.#change(['seen'], ({ put }) => put('seen', messageId, true));
    await api.markRead(token, message).catch(() => undefined); // it is a courtesy: the sender sees it later or never
  }

  /** @throws api.Refused; TypeError: it is still there */
  async dismiss(message: Message): Promise<void> {
    const { person } = this;
    const isGone = await api.dismiss(this.#token(), message);
    if (this.person !== person) return;
    if (isGone) await this.#forget([message.messageId]);
    else await this.#readAll(); // another one has taken its place
  }

  documentBytes(name: string): Promise<Blob> {
    return api.documentBytes(this.#token(), name);
  }

  pushKey(): Promise<string | null> {
    return api.pushKey(this.#token());
  }

  async registerForPush(token: string): Promise<void> {
    await this.#register(token); // where that fails, nothing says that they are on
    await this.keepSetting('push', token);
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
    const person = await openPerson(this.databases, session);
    this.#person = person;
    this.#show({
      session,
      isExpired: false,
      kept: { ...NOTHING_KEPT, ...(await readKept(person, PERSON_STORES)) },
      isFresh: false,
      live: 'connecting',
    });
    this.#sender = openSender({
      person,
      lock: personDatabase(session),
      deviceId: this.deviceId,
      token: () => this.#token(),
      register: () => this.#register(),
      onOutcome: (answer, outcome) => void (this.#person === person && this.#settled(answer, outcome)),
      onExpired: () => this.#expired(person),
    });
    void this.#connect();
    this.#renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    void this.#renew();
    this.#sender.wake();
  }

  async #end(): Promise<void> {
    clearInterval(this.#renewing);
    clearTimeout(this.#expiring);
    this.#live?.close();
    this.#sender?.close();
    this.#person?.close();
    this.#person = null;
    this.#sender = null;
    this.#live = null;
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turns.then(work);
    this.#turns = turn.catch(() => undefined); // told to whoever asked for it
    return turn;
  }

  /** The device must be known before it can listen; without a connection that is tried again. */
  async #connect(): Promise<void> {
    const person = this.#person;
    try {
      await this.#register();
    } catch (error) {
      if (error instanceof api.Refused && error.status === 401) return this.#expired(person);
    }
    if (!this.#person || this.#person !== person || this.#live) return;
    this.#live = listen(() => this.#token(), this.deviceId, {
      state: (live) => void this.#liveState(live),
      event: (value) => void this.#event(value),
    });
  }

  async #register(given?: string): Promise<void> {
    const token = given ?? ((await this.setting<string>('push')) === undefined ? null : await presentSubscription());
    const deviceName = navigator.userAgent.slice(0, 128);
    await api.registerDevice(this.#token(), { deviceId: this.deviceId, deviceName, locale: navigator.language, token });
  }

  async #liveState(live: LiveState): Promise<void> {
    if (live === 'expired') return this.#expired(this.#person);
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
    const person = this.#person;
    if (!session || !person) return;
    const touched = new Set<string>();
    this.#touched.add(touched);
    try {
      const messages = (await api.pendingMessages(session.token, session.username)).map(messageOfRow);
      if (this.#person !== person) return; // somebody else has logged in meanwhile
      const pending = new Set(messages.map(({ messageId }) => messageId));
      const gone = this.snapshot.kept.messages.map(({ messageId }) => messageId).filter((id) => !pending.has(id) && !touched.has(id));
      await this.#forget(gone, (write) => {
        for (const message of messages) if (!touched.has(message.messageId)) write.put('messages', message.messageId, message);
      });
    } finally {
      this.#touched.delete(touched);
    }
    if (this.#person !== person) return;
    this.#show({ isFresh: true });
    this.#watchExpiry();
  }

  /** Asks what waits when the next message should have expired: that is for the service to say, whose clock may differ from ours. */
  #watchExpiry(): void {
    clearTimeout(this.#expiring);
    const waitMs = untilExpiry(this.snapshot.kept.messages, Date.now());
    if (waitMs !== null) this.#expiring = setTimeout(() => void this.#readAll().catch(() => this.#watchExpiry()), waitMs);
  }

  async #event(value: JsonObject): Promise<void> {
    const [kind, messageId] = [textOf(value, 'kind'), textOf(value, 'messageId')];
    if (kind === 'notify') {
      const message = messageOfEvent(value);
      this.#touch(messageId);
      // It has been replaced: what was told of the one before it was not so.
      if (this.snapshot.notice?.messageId === messageId) this.hush();
      await this.#change(['messages'], ({ put }) => put('messages', messageId, message));
      return this.#watchExpiry();
    }
    if (kind !== 'retract' && kind !== 'removed') return; // such as for applications that report where they are
    const { messages, answers } = this.snapshot.kept;
    const known = messages.find((message) => message.messageId === messageId);
    const text = kind === 'retract' ? 'withdrawn' : 'answeredElsewhere';
    if (known && !answers.has(messageId)) this.#show({ notice: { text, params: [known.title], messageId } });
    await this.#forget([messageId]);
  }

  #touch(messageId: string): void {
    for (const touched of this.#touched) touched.add(messageId);
  }

  /** Messages that wait no longer, with all that is kept of them. */
  async #forget(ids: readonly string[], also: (write: Writer) => void = () => undefined): Promise<void> {
    const media = ids.flatMap((id) => recordingsOf(this.snapshot.kept, id));
    for (const id of ids) this.#touch(id);
    await this.#change(['messages', 'drafts', 'seen', 'media'], (write) => {
      for (const id of ids) for (const store of ['messages', 'drafts', 'seen']) write.delete(store, id);
      for (const name of media) write.delete('media', name);
      also(write);
    });
    for (const id of ids) this.#tell({ isSession: false, stores: [], about: id });
  }

  async #settled(answer: Answer, outcome: Outcome): Promise<void> {
    const { messageId } = answer;
    if (outcome !== 'refused') this.#touch(messageId);
    const stores = ['messages', 'drafts', 'answers', 'seen'] as const;
    this.#tell({ isSession: false, stores, about: outcome === 'refused' ? '' : messageId });
    await this.#reader.read(stores);
    this.say(outcome === 'sent' ? 'sent' : outcome === 'gone' ? 'gone' : 'notAccepted', answer.title);
  }

  async #renew(): Promise<void> {
    const { session } = this.snapshot;
    const person = this.#person;
    if (!session || Date.parse(session.expiresAt) - Date.now() > RENEW_BEFORE_MS) return;
    try {
      const renewed = await api.renew(session.token);
      // Who has logged out meanwhile, here or in another tab, stays so.
      const isSame = (kept: Session | undefined): boolean => kept?.token === session.token;
      if (!(await this.#device.replace('settings', 'session', isSame, renewed)) || this.#person !== person) return;
      this.#show({ session: renewed });
      this.#tell({ isSession: true });
    } catch (error) {
      if (error instanceof api.Refused && error.status === 401) this.#expired(person);
    }
  }

  /** @param person whose token it was: somebody else may have logged in since it was used */
  #expired(person: Database | null): void {
    if (this.#person !== person) return;
    this.#live?.close();
    this.#live = null;
    this.#show({ isExpired: true, live: 'expired' });
  }

  /** Another tab has changed what is kept, or who is logged in. */
  async #otherTab(message: TabMessage): Promise<void> {
    if (!message.isSession) {
      this.#touch(message.about);
      return this.#reader.read(message.stores);
    }
    const session = (await this.setting<Session>('session')) ?? null;
    const { session: before } = this.snapshot;
    if (session && before && personDatabase(session) === personDatabase(before) && session.token === before.token) return;
    await this.#end();
    if (session) return this.#begin(session);
    this.#show({ session: null, kept: NOTHING_KEPT, isFresh: false });
  }

  async #change(stores: readonly PersonStore[], changes: (write: Writer) => void): Promise<void> {
    await this.#person?.change(stores, changes);
    this.#tell({ isSession: false, stores, about: '' });
    await this.#reader.read(stores);
  }

  #tell(message: TabMessage): void {
    this.#tabs.postMessage(message);
  }

  #show(changes: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...changes };
    for (const changed of this.#changed) changed();
  }
}
