// Publishes on a NATS source: subject, bytes and headers.
import { isObject, type ObjectValue, text as textOf, type Value } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { ContentError, encodeContent } from '../../content/index.ts';
import { own } from '../fields.ts';

export interface Publication {
  readonly subject: string;
  readonly payload: Buffer;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The deduplication id: of several messages with one id JetStream keeps the first. */
  readonly messageId: string | null;
  readonly replyTo: string | null;
}

/** Tokens without white space, separated by dots; the wildcards `*` and `>` are valid in subscriptions only. */
const SUBJECT = /^[^\s.*>\0]+(?:\.[^\s.*>\0]+)*$/;
const FILTER = /^(?:[^\s.*>\0]+|\*)(?:\.(?:[^\s.*>\0]+|\*))*(?:\.>)?$|^>$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const BREAK = /[\r\n\0]/;
const LONGEST_SUBJECT = 1_024;

export const isSubject = (subject: string): boolean => subject.length <= LONGEST_SUBJECT && SUBJECT.test(subject);
export const isFilter = (subject: string): boolean => subject.length <= LONGEST_SUBJECT && FILTER.test(subject);

/** @param usual the content type of the config @throws cascade.nats.publish.invalid */
export function publicationOf(source: string, request: ObjectValue, usual: string): Publication {
  const wrong = (key: string, reason: string) => apiError('cascade.nats.publish.invalid', source, key, reason);
  const text = (key: string): string | null => {
    const value = own(request, key);
    if (value === null) return null;
    if (typeof value !== 'string' || value === '' || BREAK.test(value)) throw wrong(key, 'no String in one line');
    return value;
  };
  const subject = text('topic');
  if (subject === null) throw wrong('topic', 'missing');
  if (!isSubject(subject)) throw wrong('topic', 'no subject');
  const replyTo = text('replyTo');
  if (replyTo !== null && !isSubject(replyTo)) throw wrong('replyTo', 'no subject');
  if (!Object.hasOwn(request, 'message')) throw wrong('message', 'missing');
  const contentType = text('contentType') ?? usual;
  try {
    const message = own(request, 'message');
    const payload = message === null ? Buffer.alloc(0) : encodeContent(contentType, message);
    const headers = headersOf(own(request, 'headers'), (key) => wrong('headers', `${key.slice(0, 50)} is no header`));
    return { subject, payload, headers: [['Content-Type', contentType], ...headers], messageId: text('messageId'), replyTo };
  } catch (error) {
    throw error instanceof ContentError ? wrong('message', error.message) : error;
  }
}

function headersOf(headers: Value, wrong: (key: string) => Error): [string, string][] {
  if (headers === null) return [];
  if (!isObject(headers)) throw wrong('it');
  return Object.keys(headers).flatMap((key): [string, string][] => {
    const value = own(headers, key);
    if (value === null) return [];
    const isOurs = /^(?:content-type|nats-.*)$/i.test(key);
    if (!HEADER.test(key) || isOurs || isObject(value) || Array.isArray(value) || BREAK.test(textOf(value))) throw wrong(key);
    return [[key, textOf(value)]];
  });
}
