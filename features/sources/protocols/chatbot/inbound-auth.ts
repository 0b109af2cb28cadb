// Authenticates senders to a chatbot (integrations.md 6.2): by a token of an issuer whose keys are cached, by a shared secret, or not at
// all.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, jwtVerify } from 'jose';
import { apiError } from '../../../../model/errors/index.ts';
import { openHttpClient } from '../../http/index.ts';
import { own } from '../fields.ts';
import type { InboundRequest, SourceContext } from '../protocol.ts';

const KEYS_KEPT_MS = 24 * 3_600_000;
/** A token with an unknown key refreshes the keys, but no more often than this: strangers must not make the service fetch continuously. */
const FETCH_AGAIN_AFTER_MS = 10_000;
const TOLERANCE_S = 300;
const TIMEOUT_MS = 10_000;
const MOST_BYTES = 1024 * 1024;
const MOST_KEYS = 100;

interface Keys {
  readonly issuer: string | null;
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly until: number;
}

export class InboundAuth {
  readonly #context: SourceContext;
  #keys: Keys | null = null;
  #fetching: Promise<Keys> | null = null;
  #fetchedAgainAt = Number.NEGATIVE_INFINITY;

  constructor(context: SourceContext) {
    this.#context = context;
  }

  get mode(): string {
    const { config } = this.#context;
    return String(own(config, 'inboundAuth') ?? (own(config, 'openIdMetadataUri') === null ? 'sharedSecret' : 'jwt'));
  }

  /**
   * @param serviceUrl the service address in the message
   * @returns whether the sender is authenticated
   * @throws cascade.source.unavailable when the keys cannot be fetched
   */
  async admits(request: InboundRequest, serviceUrl: () => Promise<unknown>): Promise<boolean> {
    if (this.mode === 'none') return true;
    return this.mode === 'jwt' ? this.#hasToken(request, serviceUrl) : this.#isSigned(request);
  }

  #isSigned({ headers, body }: InboundRequest): boolean {
    const { config } = this.#context;
    const secret = String(own(config, 'inboundSecret') ?? own(config, 'clientSecret'));
    const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
    const given = Buffer.from(headers['x-cascade-signature'] ?? '', 'latin1');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  async #hasToken({ headers }: InboundRequest, serviceUrl: () => Promise<unknown>): Promise<boolean> {
    const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers['authorization'] ?? '')?.[1];
    if (token === undefined) return false;
    const { config } = this.#context;
    const verify = async (keys: Keys): Promise<boolean> => {
      const issuer = own(config, 'jwtIssuer') ?? keys.issuer;
      if (issuer === null) return false;
      const { payload } = await jwtVerify(token, keys.find, {
        issuer: String(issuer),
        audience: String(own(config, 'clientId')),
        algorithms: ['RS256', 'ES256'],
        clockTolerance: TOLERANCE_S,
        requiredClaims: ['exp', 'iss', 'aud'],
        currentDate: new Date(this.#context.now()),
      });
      const claim = payload['serviceurl'] ?? payload['serviceUrl'];
      return claim === undefined || claim === (await serviceUrl());
    };
    try {
      try {
        return await verify(await this.#current());
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || performance.now() - this.#fetchedAgainAt < FETCH_AGAIN_AFTER_MS) throw error;
        this.#fetchedAgainAt = performance.now();
        return await verify(await this.#fetched());
      }
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return false;
      throw error;
    }
  }

  async #current(): Promise<Keys> {
    return this.#keys && this.#keys.until > performance.now() ? this.#keys : this.#fetched();
  }

  async #fetched(): Promise<Keys> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = null));
    this.#keys = await this.#fetching;
    return this.#keys;
  }

  async #fetch(): Promise<Keys> {
    const { config, outlet, source } = this.#context;
    await using client = await openHttpClient({ outlet, mostBytes: MOST_BYTES, connectTimeoutMs: TIMEOUT_MS });
    const read = async (uri: unknown): Promise<Record<string, unknown>> => {
      if (typeof uri !== 'string' || !/^https?:/.test(uri) || !URL.canParse(uri)) throw new Error('an address is missing');
      const answer = await client.ask({
        url: new URL(uri),
        method: 'GET',
        headers: [['Accept', 'application/json']],
        body: null,
        timeoutMs: TIMEOUT_MS,
        redirects: 3,
      });
      if (answer.status !== 200) throw new Error(`the answer was ${answer.status}`);
      const said: unknown = JSON.parse(answer.body.toString('utf8'));
      if (typeof said !== 'object' || said === null) throw new Error('the answer is no Object');
      return said as Record<string, unknown>;
    };
    try {
      const metadata = await read(own(config, 'openIdMetadataUri'));
      const { keys } = await read(metadata['jwks_uri']);
      if (!Array.isArray(keys)) throw new Error('there are no keys');
      const usable: JSONWebKeySet = { keys: keys.slice(0, MOST_KEYS).filter(isUsable) };
      const issuer = typeof metadata['issuer'] === 'string' ? metadata['issuer'] : null;
      return { issuer, find: createLocalJWKSet(usable), until: performance.now() + KEYS_KEPT_MS };
    } catch (error) {
      throw apiError(
        'cascade.source.unavailable',
        source,
        `the keys of the issuer cannot be fetched: ${error instanceof Error ? error.message : 'no answer'}`,
      );
    }
  }
}

/** Whether a public key is of an accepted type, and small enough to verify quickly. */
function isUsable(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, n, e, crv } = key as JWK;
  if (kty === 'RSA') return typeof n === 'string' && n.length >= 340 && n.length <= 1_100 && typeof e === 'string' && e.length <= 6;
  return kty === 'EC' && crv === 'P-256';
}
