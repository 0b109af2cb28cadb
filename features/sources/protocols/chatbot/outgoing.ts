// Outgoing messages of a bot (integrations.md 6.3): replies, and messages to its channels.
import { boundedCache } from '../../../../platform/structures/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { toJson } from '../../../../model/values/index.ts';
import { EgressError } from '../../../../platform/egress/index.ts';
import { encodeInner, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../../../stdlib/values/index.ts';
import { decodeContent, encodePairs } from '../../content/index.ts';
import { type HttpAnswer, type HttpClient, openHttpClient } from '../../http/index.ts';
import { bodyOfFailure } from '../error-body.ts';
import { own } from '../fields.ts';
import type { SourceContext } from '../protocol.ts';
import { channelOf } from './channels.ts';
import { targetOf } from './target.ts';

const TIMEOUT_MS = 30_000;
const REMEMBERED_MS = 600_000;
const MOST_REMEMBERED = 1_000;
const DEFAULT_LIFE_S = 300;
const BEFORE_END_S = 30;

/** What a message is known by: ids are unique within a channel's conversation. Null for a message without one. */
export function keyOf(message: ObjectValue): string | null {
  const [id, channel, conversation] = [own(message, 'id'), own(message, 'channelId'), own(message, 'conversation')];
  if (typeof id !== 'string') return null;
  return JSON.stringify([String(channel), isObject(conversation) ? String(own(conversation, 'id')) : null, id]);
}

export class Outgoing implements AsyncDisposable {
  readonly #context: SourceContext;
  readonly #client: HttpClient;
  /** Entities and attachments of recent messages, by the key of the message: a reply includes only changed ones. */
  readonly #received = boundedCache<string, { entities: string; attachments: string }>(MOST_REMEMBERED, REMEMBERED_MS);
  #token: { readonly text: string; readonly until: number } | null = null;

  private constructor(context: SourceContext, client: HttpClient) {
    this.#context = context;
    this.#client = client;
  }

  static async open(context: SourceContext): Promise<Outgoing> {
    return new Outgoing(context, await openHttpClient({ outlet: context.outlet, connectTimeoutMs: TIMEOUT_MS, mostBytes: 1024 * 1024 }));
  }

  remember(message: ObjectValue): void {
    const key = keyOf(message);
    if (key === null) return;
    this.#received.set(key, { entities: encodeInner(own(message, 'entities')), attachments: encodeInner(own(message, 'attachments')) });
  }

  /** @throws cascade.chatbot.message.invalid, .channel.unknown, .service.url.refused, .send.failed */
  async send(message: ObjectValue): Promise<void> {
    const target = targetOf(message);
    if (target.conversation !== undefined) return this.#reply(message, target.conversation);
    const { service, channel } = target;
    const known = await channelOf(this.#context, service, channel);
    if (!known) throw apiError('cascade.chatbot.channel.unknown', channel, service);
    const to = String(own(known, 'conversation'));
    const body = { type: 'message', from: own(known, 'bot'), conversation: { id: to }, channelId: service, text: own(message, 'text') };
    await this.#post(this.#address(own(known, 'serviceUrl'), to, null), body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  async #reply(message: ObjectValue, conversation: string): Promise<void> {
    const id = own(message, 'id');
    const body: ObjectValue = {
      type: 'message',
      from: own(message, 'recipient'),
      recipient: own(message, 'from'),
      conversation: own(message, 'conversation'),
      channelId: own(message, 'channelId'),
      ...(typeof id === 'string' && { replyToId: id }),
      text: own(message, 'text'),
    };
    const key = keyOf(message);
    const received = key === null ? undefined : this.#received.get(key);
    for (const name of ['attachments', 'entities'] as const) {
      const value = own(message, name);
      if (value !== null && received?.[name] !== encodeInner(value)) setOwn(body, name, value);
    }
    await this.#post(this.#address(own(message, 'serviceUrl'), conversation, typeof id === 'string' ? id : null), body);
  }

  /** Builds the address of a message. A forged message must not send the bot's token to another host. */
  #address(serviceUrl: Value, conversation: string, activity: string | null): URL {
    const refuse = () => apiError('cascade.chatbot.service.url.refused', 'its serviceUrl is not one of those allowed');
    const base = typeof serviceUrl === 'string' ? URL.parse(serviceUrl) : null;
    if (!base || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '') throw refuse();
    const allowed = own(this.#context.config, 'allowedServiceUrls');
    const prefixes = Array.isArray(allowed) ? allowed.map(String) : [];
    const isAllowed = prefixes.length === 0 ? base.protocol === 'https:' : prefixes.some((prefix) => isWithin(base, prefix));
    if (!isAllowed) throw refuse();
    const end = activity === null ? '' : `/${segmentOf(activity)}`;
    return new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}/v3/conversations/${segmentOf(conversation)}/activities${end}`);
  }

  async #post(url: URL, body: ObjectValue): Promise<void> {
    const first = await this.#posted(url, body, await this.#bearer());
    const answer = first.status === 401 && this.#token ? await this.#posted(url, body, await this.#bearer(true)) : first;
    if (answer.status < 200 || answer.status > 299)
      throw apiError(
        'cascade.chatbot.send.failed',
        answer.status,
        await bodyOfFailure(answer, () => readable(this.#context.namespace, answer)),
      );
  }

  async #posted(url: URL, body: ObjectValue, token: string | null): Promise<HttpAnswer> {
    const headers: [string, string][] = [['Content-Type', 'application/json']];
    if (token !== null) headers.push(['Authorization', `Bearer ${token}`]);
    return this.#asked(url, headers, Buffer.from(toJson(body)));
  }

  async #asked(url: URL, headers: readonly [string, string][], body: Buffer): Promise<HttpAnswer> {
    try {
      return await this.#client.ask({ url, method: 'POST', headers, body, timeoutMs: TIMEOUT_MS });
    } catch (error) {
      if (error instanceof EgressError && error.failure === 'refused') throw error;
      throw apiError(
        'cascade.source.publish.failed',
        this.#context.source,
        error instanceof Error ? error.message : 'no answer',
        null,
        null,
      );
    }
  }

  /** A token by client credentials; null where the source has none. */
  async #bearer(isRefused = false): Promise<string | null> {
    const { config, source } = this.#context;
    const uri = own(config, 'tokenUri');
    if (uri === null) return null;
    if (!isRefused && this.#token && this.#token.until > performance.now()) return this.#token.text;
    const scope = own(config, 'tokenScope');
    const pairs: [string, string][] = [
      ['grant_type', 'client_credentials'],
      ['client_id', String(own(config, 'clientId'))],
      ['client_secret', String(own(config, 'clientSecret'))],
    ];
    if (scope !== null) pairs.push(['scope', String(scope)]);
    const form = Buffer.from(encodePairs(pairs));
    const answer = await this.#asked(new URL(String(uri)), [['Content-Type', 'application/x-www-form-urlencoded']], form);
    const said = answer.status === 200 ? await readable(this.#context.namespace, answer) : null;
    const token = isObject(said) ? own(said, 'access_token') : null;
    if (!isObject(said) || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
      throw apiError('cascade.source.publish.failed', source, `no token was given: the answer was ${answer.status}`, null, answer.status);
    const expires = own(said, 'expires_in');
    const life = isInteger(expires) ? Number(expires) : DEFAULT_LIFE_S;
    this.#token = { text: token, until: performance.now() + Math.max(life - BEFORE_END_S, 0) * 1_000 };
    return token;
  }
}

/** An id as one segment of a path. @throws cascade.chatbot.message.invalid for an id that would lead to another path */
function segmentOf(id: string): string {
  if (id === '.' || id === '..') throw apiError('cascade.chatbot.message.invalid', `the id ${id} is no segment of a path`);
  return encodeURIComponent(id.toWellFormed());
}

/** Whether an address is below the prefix, by whole segments of the path. */
function isWithin(url: URL, prefix: string): boolean {
  const allowed = URL.parse(prefix);
  if (!allowed || allowed.origin !== url.origin) return false;
  const path = allowed.pathname.replace(/\/+$/, '');
  return url.pathname === path || url.pathname.startsWith(`${path}/`);
}

async function readable(owner: string, answer: HttpAnswer): Promise<Value> {
  try {
    return await decodeContent(owner, 'application/json', answer.body);
  } catch {
    return answer.body.toString('utf8').slice(0, 10_000).toWellFormed(); // the body of an error may be anything
  }
}
