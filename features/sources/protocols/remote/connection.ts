// The connection of a REMOTE source (integrations.md 2): requests, publishes, polls.
import { isObject, type ObjectValue, type Value } from '../../../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../../../../model/errors/index.ts';
import { type AnswerRoom, EgressError, isNamedSecret, type Proxy } from '../../../../platform/egress/index.ts';
import { ContentError, ContentTooLarge } from '../../content/index.ts';
import { basic, type HttpAnswer, type HttpClient, HttpFailure, openHttpClient } from '../../http/index.ts';
import { bodyOfFailure } from '../error-body.ts';
import { own } from '../fields.ts';
import type { Caller, Connection, SourceContext } from '../protocol.ts';
import { tlsOptions } from '../../../../platform/egress/index.ts';
import { mergedRequest } from './merge.ts';
import { Tokens } from './oauth.ts';
import { Polling } from './polling.ts';
import { type LoadedDocument, type PlannedRequest, planRequest, refsOf, RequestProblem, resolveTarget } from './request.ts';
import { bodyOfAnswer, fullResponse, headersOfAnswer, textOfAnswer, typeOfAnswer } from './response.ts';

const REDIRECTS = 5;

export async function openRemote(context: SourceContext): Promise<Connection> {
  const remote = new Remote(context, await clientFor(context, context.config));
  try {
    await remote.start();
    return remote;
  } catch (error) {
    await remote.close();
    throw error;
  }
}

/** The HTTP client of a REMOTE config. */
async function clientFor(context: SourceContext, config: ObjectValue): Promise<HttpClient> {
  const options = own(config, 'clientOptions');
  const client = isObject(options) ? options : {};
  const connectTimeout = own(client, 'connectTimeout');
  return openHttpClient({
    outlet: context.outlet,
    tls: await tlsOptions(client),
    proxy: proxyOf(client),
    unpacks: own(client, 'decompressionSupported') === true,
    ...(connectTimeout === null ? {} : { connectTimeoutMs: Number(connectTimeout) }),
  });
}

function proxyOf(client: ObjectValue): Proxy | null {
  const proxy = own(client, 'proxyOptions');
  if (!isObject(proxy)) return null;
  const [username, password] = [own(proxy, 'username'), own(proxy, 'password')];
  const authorization = username === null ? {} : { authorization: basic(String(username), String(password ?? '')) };
  return { host: String(own(proxy, 'host')), port: Number(own(proxy, 'port')), ...authorization };
}

class Remote implements Connection {
  readonly #context: SourceContext;
  readonly #config: ObjectValue;
  readonly #client: HttpClient;
  readonly #tokens: Tokens;
  readonly #polling: Polling | null;
  readonly #bases: readonly string[];
  readonly #closing = new AbortController();
  /** Index of the base that answered last. */
  #current = 0;
  #underWay = 0;
  #idle: (() => void) | null = null;

  constructor(context: SourceContext, client: HttpClient) {
    this.#context = context;
    this.#config = context.config;
    this.#client = client;
    this.#tokens = new Tokens(context, (config) => clientFor(context, config));
    this.#bases = basesOf(this.#config);
    const seconds = Number(own(this.#config, 'pollingInterval') ?? 0);
    this.#polling = context.consumes && seconds > 0 ? this.#pollingEvery(seconds * 1_000) : null;
  }

  async start(): Promise<void> {
    await this.#polling?.start();
  }

  async publish(request: ObjectValue, caller: Caller): Promise<void> {
    const { answer, plan } = await this.#asked((await this.#plan(request, 'publish', caller)).plan);
    if (isFailure(answer, plan)) throw await this.#refused('cascade.source.publish.failed', answer, plan);
  }

  async query(request: ObjectValue, caller: Caller, room: AnswerRoom): Promise<Value> {
    const { plan, shown } = await this.#plan(request, 'query', caller);
    if (plan.saveAs !== null) caller.requireSavable(plan.saveAs);
    const { answer, base } = await this.#asked(plan, room);
    const failed = isFailure(answer, plan);
    if (failed && !plan.asFullExchange) throw await this.#refused('cascade.source.query.failed', answer, plan);
    const shaped = (body: Value): Value =>
      plan.asFullExchange ? this.#exchange(shown(), base, answer, body) : plan.asFullResponse ? fullResponse(answer, body) : body;
    if (failed || plan.saveAs === null)
      return shaped(await (plan.asFullExchange ? this.#leniently(answer, plan, room) : this.#body(answer, plan, room)));
    return saved(plan.saveAs, answer, shaped, caller);
  }

  async close(): Promise<void> {
    await this.#polling?.close();
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#closing.abort();
    await this.#client[Symbol.asyncDispose]();
  }

  // ---------------------------------------------------------------- requests
  /**
   * Merges the request with the config as it is known here, with its secrets, and plans it.
   * @returns `shown`: the request without the secrets of the config, for whoever asked
   */
  async #plan(
    request: ObjectValue,
    operation: 'query' | 'publish',
    caller: Caller,
  ): Promise<{ plan: PlannedRequest; shown: () => PlannedRequest }> {
    const queryAsBody = own(this.#config, 'queryForm') === 'body';
    const loaded = new Map<number, LoadedDocument>();
    const planned = (config: ObjectValue): PlannedRequest => planRequest(mergedRequest(config, request), operation, queryAsBody, loaded);
    try {
      const document = mergedRequest(this.#config, request);
      for (const [i, name] of refsOf(document)) loaded.set(i, { name, ...(await caller.readDocument(name)) });
      return { plan: planned(this.#config), shown: () => this.#shownPlan(request, planned) };
    } catch (error) {
      throw this.#invalid(error);
    }
  }

  /** No request can be made of `@secrets(…)` in place of a method, say: such defaults are left out, and the method is shown as that text. */
  #shownPlan(request: ObjectValue, planned: (config: ObjectValue) => PlannedRequest): PlannedRequest {
    const { openConfig } = this.#context;
    try {
      return planned(openConfig);
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error;
    }
    const defaults = own(openConfig, 'requestDefaults');
    const known = Object.entries(isObject(defaults) ? defaults : {}).filter(([name, value]) => name === 'path' || !isNamedSecret(value));
    const plan = planned({ ...openConfig, requestDefaults: Object.fromEntries(known) });
    const method = own(mergedRequest(openConfig, request), 'method');
    return isNamedSecret(method) ? { ...plan, method: String(method) } : plan;
  }

  #invalid(error: unknown): unknown {
    return error instanceof RequestProblem ? apiError('cascade.remote.request.invalid', this.#context.source, error.message) : error;
  }

  /**
   * Asks the bases in order until one can be connected to; a token that the remote side refused is renewed once.
   * @param until ends the request; absent: it lasts as long as the connection
   */
  async #asked(
    plan: PlannedRequest,
    room?: AnswerRoom,
    until = this.#closing.signal,
  ): Promise<{ answer: HttpAnswer; plan: PlannedRequest; base: number }> {
    this.#underWay++;
    try {
      const token = await this.#token(plan, null);
      const first = await this.#askedWith(plan, token, room, until);
      if (first.answer.status !== 401 || token === null || !this.#tokens.areUsed) return { ...first, plan };
      return { ...(await this.#askedWith(plan, await this.#token(plan, token), room, until)), plan };
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#idle?.();
    }
  }

  async #token(plan: PlannedRequest, refused: string | null): Promise<string | null> {
    if (plan.headers.some(([name]) => name.toLowerCase() === 'authorization')) return null;
    if (this.#tokens.areUsed) return this.#tokens.get(refused);
    const token = own(this.#config, 'accessToken');
    return token === null ? null : String(token);
  }

  async #askedWith(plan: PlannedRequest, token: string | null, room: AnswerRoom | undefined, signal: AbortSignal) {
    const headers = this.#headers(plan, token);
    let failure: unknown;
    for (let tried = 0; tried < this.#bases.length; tried++) {
      const at = (this.#current + tried) % this.#bases.length;
      const url = this.#target(this.#bases[at] as string, plan);
      try {
        const redirects = plan.includeRedirect || own(this.#config, 'followRedirects') === false ? 0 : REDIRECTS;
        const answer = await this.#client.ask({ ...plan, url, headers, redirects, signal, ...(room && { room }) });
        this.#current = at;
        return { answer, base: at };
      } catch (error) {
        failure = error;
        const isNowhere =
          (error instanceof HttpFailure && error.kind === 'unconnected') || (error instanceof EgressError && error.failure === 'refused');
        if (!isNowhere) break;
      }
    }
    throw this.#failure(failure);
  }

  #target(base: string, plan: PlannedRequest): URL {
    try {
      return resolveTarget(base, plan);
    } catch (error) {
      throw this.#invalid(error);
    }
  }

  #headers({ headers }: PlannedRequest, token: string | null): readonly (readonly [string, string])[] {
    if (headers.some(([name]) => name.toLowerCase() === 'authorization')) return headers;
    const username = own(this.#config, 'username');
    if (token !== null) return [...headers, ['Authorization', `${String(own(this.#config, 'realm') ?? 'Bearer')} ${token}`]];
    if (username === null) return headers;
    return [...headers, ['Authorization', basic(String(username), String(own(this.#config, 'password') ?? ''))]];
  }

  #failure(error: unknown): unknown {
    const { source } = this.#context;
    if (error instanceof EgressError && error.failure === 'limit')
      return apiError('cascade.quota.exceeded', 'outboundConnections', error.message);
    if (!(error instanceof HttpFailure)) return error;
    switch (error.kind) {
      case 'timeout':
        return apiError('cascade.remote.request.timeout', source, error.message);
      case 'too large':
        return apiError('cascade.remote.response.too.large', source, error.message);
      case 'malformed':
        return apiError('cascade.remote.response.malformed', source, error.message);
      default:
        return apiError('cascade.remote.connect.failed', source, error.message);
    }
  }

  /** The error for status 400 and above, or for a redirect that was not followed. */
  async #refused(
    code: 'cascade.source.query.failed' | 'cascade.source.publish.failed',
    answer: HttpAnswer,
    plan: PlannedRequest,
  ): Promise<CascadeError> {
    const body = await bodyOfFailure(answer, () => this.#leniently(answer, plan));
    return apiError(code, this.#context.source, answer.statusText, plain(body), answer.status);
  }

  async #body(answer: HttpAnswer, plan: PlannedRequest, room: AnswerRoom): Promise<Value> {
    const { namespace, source } = this.#context;
    try {
      return await bodyOfAnswer(namespace, answer, plan, room);
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      const isLarge = error instanceof ContentTooLarge;
      throw apiError(isLarge ? 'cascade.remote.response.too.large' : 'cascade.remote.response.malformed', source, error.message);
    }
  }

  /** The parsed body, or its text where it does not parse. */
  async #leniently(answer: HttpAnswer, plan: PlannedRequest, room?: AnswerRoom): Promise<Value> {
    try {
      return await bodyOfAnswer(this.#context.namespace, answer, plan, room);
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      return textOfAnswer(answer); // an error about the body must not hide the error that the answer reports
    }
  }

  /** @param plan the request as it may be shown @param base the index of the base that answered */
  #exchange(plan: PlannedRequest, base: number, answer: HttpAnswer, received: Value): ObjectValue {
    const headers: ObjectValue = {};
    for (const [name, value] of plan.headers)
      if (!/^(?:authorization|cookie|proxy-authorization|x-api-key)$/i.test(name)) headers[name.toLowerCase()] = value;
    const url = shownTarget(basesOf(this.#context.openConfig)[base] as string, plan);
    const request = { method: plan.method, url, headers, body: plan.body === null ? null : plan.body.toString('utf8') };
    return { request, response: fullResponse(answer, received) };
  }

  // ---------------------------------------------------------------- polls
  #pollingEvery(intervalMs: number): Polling {
    const { context, topics } = { context: this.#context, topics: own(this.#config, 'topics') };
    const paths = Array.isArray(topics) && topics.length > 0 ? topics.map(String) : [null];
    return new Polling({
      intervalMs,
      now: () => context.now(),
      polledAt: () => context.polledAt(),
      poll: async (leftMs) => {
        try {
          if (await context.poll(() => this.#pollEach(paths))) context.recovered();
        } catch (error) {
          context.troubled(error, context.now() + Math.floor(leftMs()));
        }
      },
    });
  }

  /** @throws the first error: a path that fails keeps no other one from its turn */
  async #pollEach(paths: readonly (string | null)[]): Promise<void> {
    const errors: unknown[] = [];
    for (const path of paths) {
      if (this.#context.signal.aborted) break;
      await this.#poll(path).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }

  async #poll(path: string | null): Promise<void> {
    const query = own(this.#config, 'query');
    const document = mergedRequest({}, isObject(query) ? query : {}, path === null ? {} : { path });
    await this.#context.room();
    const caller = await this.#context.creator();
    using room = this.#context.outlet.answerRoom();
    const { answer, plan } = await this.#asked((await this.#plan(document, 'query', caller)).plan, room, this.#context.abandoned);
    if (answer.status === 304 || this.#context.abandoned.aborted) return;
    if (answer.status < 200 || answer.status > 299) throw await this.#refused('cascade.source.query.failed', answer, plan);
    const message = { topic: path, properties: { status: answer.status, headers: headersOfAnswer(answer) } };
    if (plan.saveAs !== null) {
      const value = await saved(plan.saveAs, answer, (reference) => reference, caller);
      return void (await this.#context.deliver({ ...message, value }));
    }
    room.clear(); // the rules of the pipeline may ask for answers, too
    if (answer.status === 204 || answer.body.length === 0) await this.#context.deliver({ ...message, value: null });
    else await this.#context.deliver({ ...message, payload: answer.body, contentType: typeOfAnswer(answer, plan) });
  }
}

const basesOf = (config: ObjectValue): string[] =>
  [own(config, 'uri'), own(config, 'serverURIs')].flat().filter((one) => typeof one === 'string');

/** The address as it may be shown: the base alone where it is a secret, or holds one in place of its host. */
function shownTarget(base: string, plan: PlannedRequest): string {
  if (!URL.canParse(base)) return base;
  try {
    return resolveTarget(base, plan).href;
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    return base;
  }
}

const isFailure = ({ status }: HttpAnswer, { includeRedirect }: PlannedRequest): boolean =>
  status >= 400 || (status >= 300 && !includeRedirect) || status < 200;

/** Stores the body of an answer as a document. @returns the result of the query, with a reference in place of the body */
async function saved(name: string, answer: HttpAnswer, shaped: (reference: Value) => Value, caller: Caller): Promise<Value> {
  const result = shaped({ resource: 'documents', resourceId: name });
  const named = answer.headers['content-type'];
  await caller.saveDocument({ name, declaredType: typeof named === 'string' ? named : null, bytes: answer.body }, result);
  return result;
}

/** Parameters of errors are plain data. */
const plain = (value: Value): Value =>
  isObject(value) || Array.isArray(value) || typeof value !== 'object' || value === null ? value : dataOf(value);
const dataOf = (value: object): Value => ('data' in value ? ((value as { data(): Value }).data() ?? null) : null);
