// The subscriptions of one socket (resources-and-api.md 8.4).
import { CascadeError, apiError } from '../../model/errors/index.ts';
import type { Engine, Identity, Notice, Subscription } from '../../engine/index.ts';
import { weightOf } from '../../model/types/index.ts';
import { toJson } from '../../model/values/index.ts';
import { cutText, isObject, isReal, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import { countedRefusal } from '../http/index.ts';
import { Ended, type LoggedIn } from './login.ts';
import { type Answer, eventText, headersOf, memberOf, type Message, noticeText, requestIdOf, textOfItsOwn } from './message.ts';
import { required } from './requests.ts';

const MOST = 1_000;
/** Characters of a request id: it is kept for as long as the subscription lasts. Some clients use the path. */
const LONGEST_ID = 1_000;
/** Bytes that a member of a filter takes, or 64 characters. Counting ends where the engine takes no filter any more. */
const MEMBER_BYTES = 128;
const LONG_FILTER = 1_000;
/** What keeps less is not counted: the subscription itself takes as much. */
const COUNTED_BYTES = 1024;

/** After which rights that could not be looked up are looked up again. */
const LOOK_AGAIN_MS = 1_000;

/** A subscription by namespace, path and request id. */
interface Entry {
  readonly path: string;
  readonly key: string;
  readonly namespace: string;
  readonly headers: string;
  /** The login that it was made under. */
  readonly login: By;
  /** Null while it begins. */
  subscription: Subscription | null;
  /** The one that it is to replace, which goes on until it has begun; null: none. */
  before: Entry | null;
  /** What it has taken of the budget; 0 when that is given back. */
  kept: number;
  /** The name of a persistent one. */
  name?: string;
  /** Whether the client itself deletes it, and so need not be told that it ended. */
  isDeleted?: boolean;
}

type By = Pick<LoggedIn, 'username' | 'identify'>;

export interface SubscriptionsOptions {
  readonly engine: Pick<Engine, 'count' | 'subscribe' | 'acknowledge' | 'unsubscribe'>;
  /** The login of the message that is being carried out. */
  readonly login: () => By;
  /** Takes what a subscription keeps of the budget. @returns the error when there is no room */
  readonly keep: (bytes: number) => Error | null;
  readonly free: (bytes: number) => void;
  readonly send: (text: string) => void;
  /** Resolves when the client has read most of what was sent, or is gone. */
  readonly hasRoom: () => Promise<void>;
  /** Called when stored events of a subscription could not be sent. */
  readonly failed: (error: unknown) => void;
  /** Sends the message that says why a subscription ended. */
  readonly sendError: (error: CascadeError, headers: string) => void;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #entries = new Map<string, Entry>();
  #closed = false;
  #lookingAgain: NodeJS.Timeout | undefined;
  /** Notices that wait until the rights are looked up; null: notices are sent at once. */
  #held: (() => void)[] | null = null;
  #holds = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Begins a subscription; one with the same path, in the same namespace, and request id ends. Events are sent from `answered` on: after the answer.
   * @throws CascadeError
   */
  async subscribe(message: Message, caller: Identity): Promise<{ answer: Answer; answered: () => void }> {
    const identity = { ...caller, namespace: textOfItsOwn(caller.namespace) }; // the message may have named it
    let asked: Asked;
    try {
      asked = askedIn(message);
    } catch (error) {
      return countedRefusal(this.#options.engine, identity, error);
    }
    const { path, persistent, subscriptionName, filter } = asked;
    const headers = headersOf(message);
    const entry: Entry = {
      path: spelled(path),
      key: keyOf(identity, spelled(path), headers),
      subscription: null,
      before: null,
      namespace: identity.namespace,
      headers,
      login: this.#options.login(),
      kept: keptBy(path, headers, filter),
    };
    entry.before = this.#entries.get(entry.key) ?? null;
    if (!entry.before && this.#entries.size >= MOST) throw apiError('cascade.quota.exceeded', 'subscriptions', MOST);
    const refusal = entry.kept > 0 ? this.#options.keep(entry.kept) : null;
    if (refusal) throw refusal;
    this.#entries.set(entry.key, entry);
    const early: Notice[] = [];
    let isAnswered = false;
    const notify = (notice: Notice): void => {
      if (this.#held) return void this.#held.push(() => this.#isListed(entry) && notify(notice));
      if (notice.kind === 'event') return this.#options.send(eventText(notice, identity, headers));
      // Its successor on this socket has the same path and request id: to the client the subscription goes on.
      if (notice.kind === 'taken' && this.#entries.get(entry.key) !== entry) return;
      this.#end(entry);
      if (entry.isDeleted) return;
      if (notice.kind === 'taken') return this.#options.send(endedText(entry, notice.name));
      if (notice.kind === 'withdrawn') return this.#options.send(endedText(entry, entry.name));
      this.#options.sendError(apiError('cascade.event.path.gone', path), headers);
    };
    try {
      const options = { ...(filter && { eventFilter: filter }), persistent, ...(subscriptionName !== null && { subscriptionName }) };
      entry.subscription = await this.#options.engine.subscribe(identity, path, options, (notice) => {
        if (isAnswered) notify(notice);
        else early.push(notice);
      });
    } catch (error) {
      this.#remove(entry);
      throw error;
    }
    const { subscription } = entry;
    if (!this.#isListed(entry))
      subscription.close(); // it was ended or replaced meanwhile
    else if (this.#closed) this.#end(entry); // it began on a socket that was gone
    this.#closeAllOf(entry.before);
    entry.before = null;
    const { name } = subscription;
    const where = `"namespace":${JSON.stringify(identity.namespace)},"topic":${JSON.stringify(path)}`;
    const answered = (): void => {
      isAnswered = true;
      // Stored events come before those that have happened since.
      const stored = subscription.begin?.(this.#options.hasRoom) ?? Promise.resolve();
      stored.catch((error: unknown) => this.#options.failed(error));
      for (const notice of early) notify(notice);
    };
    if (name === undefined) return { answer: { status: 200, body: `{${where}}` }, answered };
    entry.name = name;
    // Clients of persistent subscriptions wait for two messages, in this order.
    this.#options.send(noticeText(headers, `{"subscriptionName":${JSON.stringify(name)},"requestId":${requestIdIn(message)}}`));
    return { answer: { status: 200, body: `{"name":${JSON.stringify(name)},${where}}` }, answered };
  }

  /**
   * Ends the subscription with that path and request id, of the namespace that the message is for if there are several; without a match of
   * the id, all with that path.
   * @throws CascadeError
   */
  async unsubscribe(message: Message, identity: Identity): Promise<Answer> {
    const path = spelled(eventPath(message));
    const name = memberOf(message.parameters, 'subscriptionName');
    if (name !== null) {
      await this.#delete(identity, path, String(name));
      return { status: 204 };
    }
    const headers = headersOf(message);
    const one = this.#entries.get(keyOf(identity, path, headers));
    const ofPath = [...this.#entries.values()].filter((each) => each.path === path);
    const named = one ? [one] : ofPath.filter((each) => each.headers === headers);
    for (const entry of named.length > 0 ? named : ofPath) this.#end(entry);
    return { status: 204 };
  }

  /** Deletes a persistent subscription; one that is refused goes on. @throws CascadeError */
  async #delete(identity: Identity, path: string, name: string): Promise<void> {
    const named = [...this.#entries.values()].filter((entry) => entry.name === name);
    for (const entry of named) entry.isDeleted = true;
    try {
      await this.#options.engine.unsubscribe(identity, path, name);
    } catch (error) {
      for (const entry of named) entry.isDeleted = false;
      throw error;
    }
    for (const entry of named) this.#end(entry);
  }

  /** Acknowledges an event of a persistent subscription (8.5). Never answered; invalid acknowledgements are ignored. */
  async acknowledge(message: Message, identity: Identity): Promise<void> {
    const { parameters } = message;
    const subscriptionName = memberOf(parameters, 'subscriptionName') ?? memberOf(parameters, 'subscriptionId');
    const partitionId = whole(memberOf(parameters, 'partitionId'));
    const sequenceId = whole(memberOf(parameters, 'sequenceId'));
    if (typeof subscriptionName !== 'string' || partitionId === null || sequenceId === null) return;
    await this.#options.engine.acknowledge(identity, { subscriptionName, partitionId, sequenceId });
  }

  /** Holds all notices back until `release`. */
  hold(): void {
    this.#held ??= [];
    this.#holds++;
  }

  /** Number of notices that are held back. */
  get held(): number {
    return this.#held?.length ?? 0;
  }

  /** Delivers the first of the held notices; the rest stays held. */
  releaseFirst(count: number): void {
    if (!this.#held) return;
    const first = this.#held.splice(0, count);
    const rest = this.#held;
    this.#held = null;
    for (const notify of first) notify();
    this.#held = rest;
  }

  /** Delivers the held notices of subscriptions that still exist. */
  release(): void {
    if (--this.#holds > 0) return;
    const held = this.#held ?? [];
    this.#held = null;
    for (const notify of held) notify();
  }

  /** Whether a user's login is that of a subscription. */
  isOf(username: string): boolean {
    for (const { login } of this.#entries.values()) if (login.username === username) return true;
    return false;
  }

  /** Whether any was made under this login. */
  uses(login: By): boolean {
    for (const last of this.#entries.values()) for (const entry of chainOf(last)) if (entry.login === login) return true;
    return false;
  }

  /**
   * Ends those that the login they were made under has no right to any more. Where nothing can be found out, as the store is away, they go on,
   * since an end loses events, and are looked at again.
   * @param socketFollows the socket itself is looked at next, and is closed when its login has ended: that is no notice
   */
  async recheck(socketFollows = false): Promise<void> {
    let isUnknown = false;
    const identities = new Map<By, Map<string, Promise<Identity>>>(); // one look-up per login and namespace
    const identityOf = ({ login, namespace }: Entry): Promise<Identity> => {
      const ofLogin = identities.get(login) ?? new Map<string, Promise<Identity>>();
      identities.set(login, ofLogin);
      const known = ofLogin.get(namespace) ?? login.identify(namespace);
      ofLogin.set(namespace, known);
      return known;
    };
    for (const entry of [...this.#entries.values()])
      try {
        const probe = await this.#options.engine.subscribe(await identityOf(entry), entry.path, { probes: true }, () => undefined);
        probe.close();
      } catch (error) {
        if (!this.#isListed(entry)) continue; // ended meanwhile
        isUnknown ||= !saysThatItEnds(error);
        if (!saysThatItEnds(error)) continue;
        this.#end(entry);
        const closes = socketFollows && error instanceof Ended && entry.login === this.#options.login();
        if (!this.#closed && !closes) this.#notifyEnd(entry, error);
      }
    if (isUnknown && !this.#closed) this.#lookAgain();
  }

  #lookAgain(): void {
    clearTimeout(this.#lookingAgain);
    this.#lookingAgain = setTimeout(() => {
      this.recheck().catch((error: unknown) => this.#options.failed(error));
    }, LOOK_AGAIN_MS);
  }

  get size(): number {
    return this.#entries.size;
  }

  closeAll(): void {
    this.#closed = true;
    clearTimeout(this.#lookingAgain);
    for (const entry of [...this.#entries.values()]) this.#end(entry);
  }

  /** Ends a subscription whose path existed when it began: not found means that it was deleted since. */
  #notifyEnd(entry: Entry, why: unknown): void {
    const isWithdrawn = why instanceof Ended || (why instanceof CascadeError && (why.status === 401 || why.status === 403));
    if (isWithdrawn) this.#options.send(endedText(entry, entry.name));
    else if (why instanceof CascadeError && why.status !== 404) this.#options.sendError(why, entry.headers);
    else this.#options.sendError(apiError('cascade.event.path.gone', entry.path), entry.headers);
  }

  /** With the last subscription of its path and request id end those that it was to replace. */
  #end(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) {
      this.#remove(entry);
      return entry.subscription?.close();
    }
    this.#entries.delete(entry.key);
    this.#closeAllOf(entry);
  }

  #closeAllOf(last: Entry | null): void {
    for (const entry of chainOf(last)) {
      entry.subscription?.close();
      this.#free(entry);
    }
  }

  #free(entry: Entry): void {
    if (entry.kept > 0) this.#options.free(entry.kept);
    entry.kept = 0;
  }

  /** Takes an entry out alone: what it was to replace goes on, or is replaced by its successor. */
  #remove(entry: Entry): void {
    const last = this.#entries.get(entry.key);
    if (last === entry && entry.before) this.#entries.set(entry.key, entry.before);
    else if (last === entry) this.#entries.delete(entry.key);
    else for (const one of chainOf(last)) if (one.before === entry) one.before = entry.before;
    entry.before = null;
    this.#free(entry);
  }

  /** Whether it has neither ended nor been replaced. */
  #isListed(entry: Entry): boolean {
    return [...chainOf(this.#entries.get(entry.key))].includes(entry);
  }
}

/** An entry, and those that it is to replace. */
function* chainOf(last: Entry | null | undefined): Generator<Entry> {
  for (let entry = last; entry; entry = entry.before) yield entry;
}

/** The bytes that are kept with a subscription, where they are many. */
function keptBy(path: string, headers: string, filter: ObjectValue | null): number {
  const bytes = path.length + headers.length + (filter ? MEMBER_BYTES * weightOf(filter, LONG_FILTER) : 0);
  return bytes < COUNTED_BYTES ? 0 : Math.ceil(bytes);
}

/** Whether the error of a look-up is about the right or the path, not about looking it up. */
const saysThatItEnds = (error: unknown): boolean =>
  error instanceof Ended || (error instanceof CascadeError && error.status < 500 && error.status !== 429);

const keyOf = ({ namespace }: Identity, path: string, headers: string): string => `${namespace}\n${path}\n${headers}`;

function eventPath({ resourceName, resourceId }: Message): string {
  const name = required('resourceName', resourceName);
  if (name.replace(/^system\./, '') !== 'events') throw apiError('cascade.request.parameter.invalid', 'resourceName', name);
  return required('resourceId', resourceId);
}

/** Normalises the spellings `/topics//a`, `/services//s/e` and `/topics/a/publish` to one path of a socket. */
const spelled = (path: string): string => path.replace(/^\/(topics|services)\/\//, '/$1/').replace(/^(\/topics\/.+)\/publish$/, '$1');

interface Asked extends ReturnType<typeof persistence> {
  readonly path: string;
  readonly filter: ObjectValue | null;
}

/** @throws what is wrong with the message */
function askedIn(message: Message): Asked {
  const filter = memberOf(message.parameters, 'eventFilter');
  const asked = { path: textOfItsOwn(eventPath(message)), ...persistence(message) };
  const id = requestIdOf(message);
  if (typeof id === 'string' && id.length > LONGEST_ID)
    throw apiError('cascade.request.parameter.invalid', 'requestId', `${cutText(id, 100)}…`);
  if (filter !== null && !isObject(filter)) throw apiError('cascade.request.parameter.invalid', 'eventFilter', filter);
  return { ...asked, filter };
}

/** Whether a subscription outlives its socket, and the name of one that does. */
function persistence({ parameters }: Message): { persistent: boolean; subscriptionName: string | null } {
  const name = memberOf(parameters, 'subscriptionName');
  const persistent = memberOf(parameters, 'persistent');
  if (persistent !== null && typeof persistent !== 'boolean') throw apiError('cascade.request.parameter.invalid', 'persistent', persistent);
  return { persistent: persistent === true || name !== null, subscriptionName: name === null ? null : String(name) };
}

const requestIdIn = ({ parameters }: Message): string => toJson(memberOf(parameters, 'requestId'));

/** A whole number; some clients write it as a Real. */
function whole(value: Value): number | null {
  const number = isReal(value) ? Number(text(value)) : Number(value);
  return value !== null && typeof value !== 'boolean' && Number.isSafeInteger(number) ? number : null;
}

/** The notice that a subscription continues elsewhere, or that its right was withdrawn (8.5). @param name of a persistent one */
function endedText({ path, namespace, headers }: Entry, name: string | undefined): string {
  const body = JSON.stringify({ op: 'unsubscribe', path, namespace, subscriptionName: name });
  return noticeText(headers, body);
}
