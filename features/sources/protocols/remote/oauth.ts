// OAuth tokens (integrations.md 2.6): fetched from another REMOTE source, cached until shortly before they expire, one request at a time.
import { createHash } from 'node:crypto';
import { isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../../../stdlib/values/index.ts';
import { apiError, CascadeError } from '../../../../model/errors/index.ts';
import { decodeContent, encodeContent } from '../../content/index.ts';
import { basic, headerPairs, type HttpClient } from '../../http/index.ts';
import { own } from '../fields.ts';
import type { SourceContext } from '../protocol.ts';

const DEFAULT_LIFE_S = 300;
const BEFORE_END_S = 30;
const TIMEOUT_MS = 120_000;
const FORM = 'application/x-www-form-urlencoded';
const KEPT_REFRESH_TOKEN = 'oauthRefreshToken';

/** Creates the HTTP client for the config of the source that issues tokens. */
export type ClientFor = (config: ObjectValue) => Promise<HttpClient>;

export class Tokens {
  readonly #context: SourceContext;
  readonly #clientFor: ClientFor;
  #token: { readonly text: string; readonly until: number } | null = null;
  #fetching: Promise<string> | null = null;

  constructor(context: SourceContext, clientFor: ClientFor) {
    this.#context = context;
    this.#clientFor = clientFor;
  }

  get areUsed(): boolean {
    return own(this.#context.config, 'oauthSourceName') !== null;
  }

  /** @param refused a token that the remote side did not accept @throws cascade.remote.oauth.source, .oauth.failed */
  async get(refused: string | null = null): Promise<string> {
    if (this.#token && this.#token.text !== refused && this.#token.until > performance.now()) return this.#token.text;
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = null));
    return this.#fetching;
  }

  /** Whatever is wrong with the other source, its named secrets and its certificates included, is an error of these two codes. */
  async #fetch(): Promise<string> {
    const { source, config } = this.#context;
    const failed = (detail: string) => apiError('cascade.remote.oauth.failed', source, detail);
    try {
      const other = await this.#context.other(String(own(config, 'oauthSourceName')));
      if (other?.type === 'REMOTE') return await this.#fetchFrom(other.config, failed);
    } catch (error) {
      const isNamed = error instanceof CascadeError && error.code.startsWith('cascade.remote.oauth.');
      throw isNamed ? error : failed(error instanceof Error ? error.message : 'no answer');
    }
    throw apiError('cascade.remote.oauth.source', source, `${String(own(config, 'oauthSourceName'))} is no active REMOTE source`);
  }

  async #fetchFrom(issuer: ObjectValue, failed: (detail: string) => Error): Promise<string> {
    const setting = (name: string): Value => own(this.#context.config, name) ?? own(issuer, name);
    const url = String(own(issuer, 'uri') ?? '');
    if (!URL.canParse(url)) throw failed('the source of tokens has no uri');
    const refreshToken = await this.#refreshToken(setting('oauthRefreshToken'));
    const grant = setting('oauthGrantType');
    if (grant !== 'client_credentials' && grant !== 'refresh_token') throw failed('there is no oauthGrantType');
    if (grant === 'refresh_token' && refreshToken === null) throw failed('there is no refresh token');
    const { body, headers } = tokenRequest(setting, String(grant), refreshToken, issuer);
    await using client = await this.#clientFor(issuer);
    const answer = await client.ask({ url: new URL(url), method: 'POST', headers, body, timeoutMs: TIMEOUT_MS });
    if (answer.status < 200 || answer.status > 299) throw failed(`the answer was ${answer.status}`);
    return await this.#taken(answer.body, setting('oauthRefreshToken'), failed);
  }

  async #taken(bytes: Buffer, original: Value, failed: (detail: string) => Error): Promise<string> {
    let said: Value;
    try {
      said = await decodeContent(this.#context.namespace, 'application/json', bytes);
    } catch {
      throw failed('the answer is no JSON');
    }
    const token = isObject(said) ? own(said, 'access_token') : null;
    if (!isObject(said) || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw failed('the answer has no access_token');
    const rotated = own(said, 'refresh_token');
    if (typeof rotated === 'string' && rotated !== '')
      await this.#context.keep(KEPT_REFRESH_TOKEN, JSON.stringify({ of: digest(original), token: rotated }));
    const expires = own(said, 'expires_in');
    const life = isInteger(expires) ? Number(expires) : Number(expires ?? DEFAULT_LIFE_S);
    const until = performance.now() + Math.max(Number.isFinite(life) ? life - BEFORE_END_S : 0, 0) * 1_000;
    this.#token = { text: token, until };
    return token;
  }

  /** The stored refresh token, if it derives from the one in the current config. */
  async #refreshToken(original: Value): Promise<string | null> {
    const kept = await this.#context.kept(KEPT_REFRESH_TOKEN);
    if (kept !== null) {
      const { of, token } = JSON.parse(kept) as { of: string; token: string };
      if (of === digest(original)) return token;
    }
    return typeof original === 'string' ? original : null;
  }
}

const digest = (value: Value): string => createHash('sha256').update(String(value)).digest('hex');

function tokenRequest(
  setting: (name: string) => Value,
  grant: string,
  refreshToken: string | null,
  tokenConfig: ObjectValue,
): { body: Buffer; headers: [string, string][] } {
  const [id, secret] = [setting('oauthClientId'), setting('oauthClientSecret')].map((value) => (value === null ? null : String(value)));
  const usesBasic = setting('oauthUseBasicAuth') === true;
  const fields: ObjectValue = { grant_type: grant };
  if (grant === 'refresh_token') fields['refresh_token'] = refreshToken;
  for (const [name, value] of [
    ['scope', setting('oauthScope')],
    ['audience', setting('oauthAudience')],
    ['client_id', usesBasic ? null : (id ?? null)],
    ['client_secret', usesBasic ? null : (secret ?? null)],
  ] as const)
    if (value !== null) setOwn(fields, name, value);
  const contentType = String(setting('oauthContentType') ?? FORM);
  const defaults = own(tokenConfig, 'requestDefaults');
  const given = isObject(defaults) ? own(defaults, 'headers') : null;
  const pairs = isObject(given) ? headerPairs(given) : [];
  const headers = (typeof pairs === 'string' ? [] : pairs).filter(([name]) => !/^(?:content-type|accept)$/i.test(name));
  headers.push(['Content-Type', contentType], ['Accept', 'application/json']);
  // RFC 6749 2.3.1 encodes both parts.
  if (usesBasic && id != null)
    headers.push(['Authorization', basic(encodeURIComponent(id.toWellFormed()), encodeURIComponent((secret ?? '').toWellFormed()))]);
  return { body: encodeContent(contentType, fields), headers };
}
