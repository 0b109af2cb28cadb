// The subscriptions of one socket (resources-and-api.md 8.4).
import { CascadeError, fault } from '../../runtime/faults.ts';
import type { Engine, Identity, Notice, Subscription } from '../../runtime/index.ts';
import { toJson } from '../../runtime/values/index.ts';
import { isObject } from '../../stdlib/values/index.ts';
import { type Answer, eventText, headersOf, memberOf, type Message } from './message.ts';
import { required } from './requests.ts';

const MOST = 1_000;

/** By path and request id; the subscription is null while it begins. */
interface Entry {
  readonly path: string;
  readonly key: string;
  subscription: Subscription | null;
}

export interface SubscriptionsOptions {
  readonly engine: Pick<Engine, 'subscribe'>;
  readonly send: (text: string) => void;
  /** The message that says why a subscription ended. */
  readonly sendError: (error: CascadeError, headers: string) => void;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #entries = new Map<string, Entry>();
  #closed = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Begins a subscription; one with the same path and request id ends. Events are sent from `answered` on: after the answer.
   * @throws CascadeError
   */
  async subscribe(message: Message, identity: Identity): Promise<{ answer: Answer; answered: () => void }> {
    const path = eventPath(message);
    refusePersistent(message);
    const filter = memberOf(message.parameters, 'eventFilter');
    if (filter !== null && !isObject(filter)) throw fault('cascade.request.parameter.invalid', 'eventFilter', filter);
    const headers = headersOf(message);
    const entry: Entry = { path: spelled(path), key: `${spelled(path)}\n${headers}`, subscription: null };
    const before = this.#entries.get(entry.key);
    if (!before && this.#entries.size >= MOST) throw fault('cascade.quota.exceeded', 'subscriptions', MOST);
    this.#entries.set(entry.key, entry);
    const early: Notice[] = [];
    let isAnswered = false;
    const tell = (notice: Notice): void => {
      if (notice.kind === 'event') return this.#options.send(eventText(notice, identity, headers));
      this.#end(entry);
      this.#options.sendError(fault('cascade.event.path.gone', path), headers);
    };
    try {
      entry.subscription = await this.#options.engine.subscribe(identity, path, filter ? { eventFilter: filter } : {}, (notice) => {
        if (isAnswered) tell(notice);
        else early.push(notice);
      });
    } catch (error) {
      this.#refused(entry, before);
      throw error;
    }
    before?.subscription?.close();
    if (this.#closed || this.#entries.get(entry.key) !== entry) entry.subscription.close(); // ended or replaced meanwhile
    const body = `{"namespace":${JSON.stringify(identity.namespace)},"topic":${JSON.stringify(path)}}`;
    const answered = (): void => {
      isAnswered = true;
      for (const notice of early) tell(notice);
    };
    return { answer: { status: 200, body }, answered };
  }

  /** Ends the one with that path and request id; with another request id, all with that path. @throws CascadeError */
  unsubscribe(message: Message): Answer {
    const path = spelled(eventPath(message));
    const name = memberOf(message.parameters, 'subscriptionName');
    if (name !== null) throw fault('cascade.subscription.unknown', name);
    const one = this.#entries.get(`${path}\n${headersOf(message)}`);
    for (const entry of one ? [one] : [...this.#entries.values()].filter((each) => each.path === path)) this.#end(entry);
    return { status: 204 };
  }

  closeAll(): void {
    this.#closed = true;
    for (const entry of [...this.#entries.values()]) this.#end(entry);
  }

  #end(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    entry.subscription?.close();
  }

  /** What was to be replaced stays when its successor is refused, unless that was ended meanwhile, which means both. */
  #refused(entry: Entry, before: Entry | undefined): void {
    if (this.#entries.get(entry.key) !== entry) before?.subscription?.close();
    else if (before) this.#entries.set(entry.key, before);
    else this.#entries.delete(entry.key);
  }
}

function eventPath({ resourceName, resourceId }: Message): string {
  const name = required('resourceName', resourceName);
  if (name.replace(/^system\./, '') !== 'events') throw fault('cascade.request.parameter.invalid', 'resourceName', name);
  return required('resourceId', resourceId);
}

/** `/topics//a`, `/services//s/e` and `/topics/a/publish` are other spellings: of one path on a socket. */
const spelled = (path: string): string => path.replace(/^\/(topics|services)\/\//, '/$1/').replace(/^(\/topics\/.+)\/publish$/, '$1');

/** Events that wait for their subscriber need reliable resources, which are not part of this version. */
function refusePersistent({ parameters }: Message): void {
  const name = memberOf(parameters, 'subscriptionName');
  if (name !== null) throw fault('cascade.subscription.unknown', name);
  const persistent = memberOf(parameters, 'persistent');
  if (persistent === null || persistent === false) return;
  const params = ['persistent', persistent];
  const text = `Parameter persistent has the invalid value ${toJson(persistent)}: persistent subscriptions are not part of this version.`;
  throw new CascadeError('cascade.request.parameter.invalid', text, params, 400);
}
