// Common parts of both versions of AMQP (integrations.md 4): addresses, publishes, the settlement of messages.
import type { ObjectValue, Value } from '../../../../stdlib/values/index.ts';
import { DateTime, isNumber, isObject, numberOf, text as asText } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { longTimeout } from '../../../../platform/clock/index.ts';
import { ContentError, encodeContent, kindOf, mediaType } from '../../content/index.ts';
import { checkMembers, type Fits, flag, object, own, text, whole } from '../fields.ts';
import { ConnectionFailure, type SourceContext } from '../protocol.ts';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Only for AMQP 0-9-1. */
  readonly virtualHost: string;
}

const CONNECT_WITHIN_MS = 15_000;

export const addressesOf = (config: ObjectValue): BrokerAddress[] =>
  [own(config, 'serverURIs')]
    .flat()
    .filter((one) => typeof one === 'string')
    .map((text) => {
      const { protocol, hostname, port, pathname } = new URL(text);
      const isSecure = protocol === 'amqps:';
      const host = hostname.replace(/^\[(.*)\]$/, '$1');
      const path = decodeURIComponent(pathname.slice(1));
      return { host, port: port === '' ? (isSecure ? 5_671 : 5_672) : Number(port), isSecure, virtualHost: path === '' ? '/' : path };
    });

/** SASL mechanisms with which the source can authenticate. */
export type Mechanism = 'PLAIN' | 'EXTERNAL' | 'ANONYMOUS';

/** The mechanisms to offer, in the order of the config; without a list PLAIN where there is a user name, else ANONYMOUS (4.1/5). */
export function mechanismsOf(config: ObjectValue): readonly Mechanism[] {
  const isNamed = own(config, 'username') !== null;
  const enabled = own(config, 'enabledSaslMechanisms');
  if (!Array.isArray(enabled)) return [isNamed ? 'PLAIN' : 'ANONYMOUS'];
  const usable: readonly Mechanism[] = isNamed ? ['PLAIN', 'EXTERNAL', 'ANONYMOUS'] : ['EXTERNAL', 'ANONYMOUS'];
  return enabled.flatMap((name) => usable.filter((one) => one === name));
}

/** Name and password for PLAIN. */
export const credentialsOf = (config: ObjectValue): readonly [name: string, password: string] => [
  String(own(config, 'username') ?? ''),
  String(own(config, 'password') ?? ''),
];

/** Connects to the first broker that answers. @throws the error of the last one */
export async function firstOf<T>(context: SourceContext, open: (address: BrokerAddress) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (const address of addressesOf(context.config))
    try {
      return await open(address);
    } catch (error) {
      failure = error;
      if (context.signal.aborted || (error instanceof ConnectionFailure && error.isAuthentication)) break;
    }
  throw failure;
}

export const socketTo = ({ outlet, tls, signal }: SourceContext, { host, port, isSecure }: BrokerAddress) =>
  outlet.connect({ host, port, tls: isSecure ? tls : null, timeoutMs: CONNECT_WITHIN_MS, signal });

export const topicsOf = (config: ObjectValue): string[] => {
  const topics = own(config, 'topics');
  return Array.isArray(topics) ? topics.map(String) : [];
};

export const usualType = (config: ObjectValue): string => String(own(config, 'contentType') ?? 'application/json');

/** The content type of a message. @param named the type that the message itself names */
export function typeOf(config: ObjectValue, named: string | undefined): string {
  if (own(config, 'useMessageContentType') !== true || !named) return usualType(config);
  return kindOf(named) === 'binary' && mediaType(named) === '' ? usualType(config) : named;
}

export interface Publication {
  readonly address: string;
  readonly body: Buffer;
  readonly contentType: string;
  readonly properties: ObjectValue;
  readonly durable: boolean;
  readonly ttl: number | null;
  readonly correlationId: string | null;
  readonly replyTo: string | null;
  readonly subject: string | null;
}

/** AMQP knows Integers of 64 bits. */
const properties: Fits = (value) =>
  object(value) ?? (everyInteger(value, (one) => BigInt.asIntN(64, one) === one) ? null : 'an Integer of more than 64 bits');

function everyInteger(value: Value, fits: (one: bigint) => boolean): boolean {
  if (typeof value === 'bigint') return fits(value);
  if (Array.isArray(value)) return value.every((one) => everyInteger(one, fits));
  return !isObject(value) || Object.values(value).every((one) => everyInteger(one, fits));
}

/** What the version can hold: 0-9-1 has texts of 255 bytes beside the body, 1.0 a ttl of 32 bits. */
const MOST_BYTES = 255;
const MOST_TTL_MS = 2 ** 32 - 1;
const shortText: Fits = (value) => text(value) ?? (Buffer.byteLength(String(value)) > MOST_BYTES ? `more than ${MOST_BYTES} bytes` : null);
const membersOf = (version: Value): Readonly<Record<string, Fits>> =>
  version === '0-9-1'
    ? { properties, durable: flag, ttl: whole(0), correlationId: shortText, replyTo: shortText, subject: shortText }
    : { properties, durable: flag, ttl: whole(0, MOST_TTL_MS), correlationId: text, replyTo: text, subject: text };
const isAddress = (address: Value, version: Value): address is string => {
  if (typeof address !== 'string' || address === '') return false;
  return version !== '0-9-1' || exchangeAndKey(address).every((part) => part === '' || shortText(part) === null);
};

/** `queue` or `exchange/key` of 0-9-1; the default exchange leads to queues by their names. */
export function exchangeAndKey(address: string): readonly [exchange: string, key: string] {
  const slash = address.indexOf('/');
  return slash < 0 ? ['', address] : [address.slice(0, slash), address.slice(slash + 1)];
}

/**
 * Properties as the library of a version takes them: its own form for long Integers and instants, text for other values of the language
 * that AMQP has no type for.
 */
export function sentProperties(
  value: ObjectValue,
  of: { long(one: bigint): unknown; instant(ms: number): unknown },
): Record<string, unknown> {
  const one = (member: Value): unknown => {
    if (typeof member === 'bigint') return of.long(member);
    if (member instanceof DateTime) return of.instant(member.ms);
    if (Array.isArray(member)) return member.map(one);
    if (isObject(member)) return sentProperties(member, of);
    if (isNumber(member)) return numberOf(member);
    return member === null || typeof member === 'boolean' ? member : asText(member);
  };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, one(member)]));
}

/**
 * @throws cascade.amqp.topic.missing; cascade.request.body.invalid for another member, and for a message that the content type cannot hold
 */
export function publicationOf({ source, config }: Pick<SourceContext, 'source' | 'config'>, request: ObjectValue): Publication {
  const address = own(request, 'topic');
  const version = own(config, 'protocol');
  if (!isAddress(address, version)) throw apiError('cascade.amqp.topic.missing', source, 'topic');
  checkMembers(request, membersOf(version));
  const contentType = usualType(config);
  const named = (name: string): string | null => own(request, name) as string | null;
  const given = own(request, 'properties');
  const ttl = own(request, 'ttl');
  return {
    address,
    body: encoded(contentType, own(request, 'message')),
    contentType,
    properties: isObject(given) ? given : {},
    durable: own(request, 'durable') !== false,
    ttl: ttl === null ? null : Number(ttl),
    correlationId: named('correlationId'),
    replyTo: named('replyTo'),
    subject: named('subject'),
  };
}

function encoded(contentType: string, message: Value): Buffer {
  try {
    return encodeContent(contentType, message);
  } catch (error) {
    throw error instanceof ContentError ? apiError('cascade.request.body.invalid', `message: ${error.message}`, 0) : error;
  }
}

/** Repeats some work at an interval, without overlap; a failure is reported, and the next interval tries again. */
export class Interval {
  readonly #context: SourceContext;
  readonly #work: () => Promise<void>;
  readonly #everyMs: number;
  #timer: ReturnType<typeof longTimeout> | null = null;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(context: SourceContext, seconds: number, work: () => Promise<void>) {
    this.#context = context;
    this.#everyMs = seconds * 1_000;
    this.#work = work;
  }

  begin(): void {
    if (this.#isClosed) return;
    this.#running = this.#work().then(
      () => this.#context.recovered(),
      (error: unknown) => !this.#isClosed && this.#context.troubled(error),
    ) as Promise<void>;
    void this.#running.then(() => {
      if (!this.#isClosed) this.#timer = longTimeout(() => this.begin(), this.#everyMs);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
  }
}
