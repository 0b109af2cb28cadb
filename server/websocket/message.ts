// The messages of the WebSocket binding (resources-and-api.md 2.15): parses a client's text, and makes the texts of answers and events.
// Bodies are JSON text already; they are not parsed again.
import type { ApiRequest, Pieces } from '../../resources/api.ts';
import type { Identity, Notice } from '../../engine/index.ts';
import { readBody } from '../http/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { weightOf } from '../../model/types/index.ts';
import { MAX_BODY_VALUES, parseJson, type ParseJsonOptions, toJson } from '../../model/values/index.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';

export interface Message {
  /** Undefined: missing, or not a text. */
  readonly op: string | undefined;
  readonly resourceName: string | undefined;
  readonly resourceId: string | undefined;
  /** Undefined: missing or null. */
  readonly object: Value | undefined;
  readonly parameters: ObjectValue;
  readonly targetNamespace: string | undefined;
  /** The node that `deleteNode` names. */
  readonly targetName: string | undefined;
  /** The first member with a value of a wrong kind that cannot count as missing. */
  readonly wrong: { readonly name: string; readonly value: Value } | undefined;
  /** The offset of the first ill-formed text, as of a request. */
  readonly illFormedAt?: number;
  /** The same of the first number that is beyond every double. */
  readonly beyondDoublesAt?: number;
}

/** @throws request.body.invalid when it is not a JSON object */
export function readMessage(source: string | Uint8Array): Message {
  const found: Found = {};
  const value = parseJson(source, { maxValues: MAX_BODY_VALUES, ...into(found) });
  return messageOf(value, found);
}

/** Parses a long text as `readMessage` does, in pieces, so that it delays nobody else. @param owner see `readBody` */
export async function readLongMessage(source: Uint8Array, owner: string): Promise<Message> {
  const found: Found = {};
  const value = await readBody(source, owner, into(found));
  return messageOf(value, found);
}

/** What the parser has let pass. */
type Found = Pick<ApiRequest, 'illFormedAt' | 'beyondDoublesAt'>;

const into = (found: Found): ParseJsonOptions => ({
  onLoneSurrogate: (offset) => (found.illFormedAt ??= offset),
  onBeyondDoubles: (offset) => (found.beyondDoublesAt ??= offset),
});

function messageOf(value: Value, found: Found): Message {
  if (!isObject(value)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const parameters = memberOf(value, 'parameters');
  const wrong = MEMBERS.find(({ name, isRight }) => !isRight(memberOf(value, name)));
  return {
    op: textIn(value, 'op'),
    resourceName: textIn(value, 'resourceName'),
    resourceId: textIn(value, 'resourceId'),
    object: memberOf(value, 'object') ?? undefined,
    parameters: isObject(parameters) ? parameters : {},
    targetNamespace: textIn(value, 'targetNamespace'),
    targetName: textIn(value, 'targetName'),
    wrong: wrong && { name: wrong.name, value: memberOf(value, wrong.name) },
    ...found,
  };
}

const isText = (value: Value): boolean => value === null || typeof value === 'string';
const MEMBERS = [
  { name: 'resourceId', isRight: isText },
  { name: 'targetNamespace', isRight: isText },
  { name: 'parameters', isRight: (value: Value): boolean => value === null || isObject(value) },
];

/** The value of a member; null when it is missing. */
export const memberOf = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

export function textIn(object: ObjectValue, name: string): string | undefined {
  const value = memberOf(object, name);
  return typeof value === 'string' ? value : undefined;
}

/** About what a value takes in memory. An array of empty objects is twenty times its text. */
const VALUE_BYTES = 64;
/** Values that are counted of a message: it takes no long look at the longest. */
const MOST_COUNTED = 65_536;

/** The bytes that a message takes until it is answered. */
export function bytesOf({ object, parameters }: Message): number {
  return Math.ceil(VALUE_BYTES * (weightOf(object, MOST_COUNTED) + weightOf(parameters, MOST_COUNTED)));
}

/** A copy for what outlives the message: a text that is cut out of a long one keeps the whole of that. */
export const textOfItsOwn = (cut: string): string => JSON.parse(JSON.stringify(cut)) as string;

/** The headers of all messages that belong to a request: its id, when it has one. */
export function headersOf(message: Pick<Message, 'parameters'>, answer?: Answer): string {
  const id = requestIdOf(message);
  const members = id === null ? [] : [`"X-Request-Id":${toJson(id)}`];
  // The equivalent of a header of HTTP, for other installations.
  if (answer?.isTyped) members.push('"X-Cascade-Values":"typed"');
  if (answer?.partial && memberOf(message.parameters, 'X-Cascade-Federation') !== null) members.push('"X-Partial-Result":"true"');
  return `{${members.join(',')}}`;
}

/** The request id; null: missing or invalid. */
export function requestIdOf({ parameters }: Pick<Message, 'parameters'>): string | number | null {
  const id = memberOf(parameters, 'requestId');
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
export const NO_HEADERS = '{}';

export interface Answer {
  readonly status: number;
  /** The body as JSON text. */
  readonly body?: string;
  /** A long body in place of `body`. */
  readonly pieces?: Pieces;
  readonly count?: number;
  /** Whether values keep their types in the body. */
  readonly isTyped?: boolean;
  /** Whether some of several instances failed. */
  readonly partial?: boolean;
}

/** @param headers null: answers to logins have none, and clients rely on that */
export function answerText({ status, body, count }: Answer, headers: string | null): string {
  const content = count === undefined || status >= 400 ? body : counted(body, count);
  const head = `{"status":${count !== undefined && status === 204 ? 200 : status}${headers === null ? '' : `,"headers":${headers}`}`;
  if (content === undefined) return `${head}}`;
  const errors = status >= 400 ? `,"errors":${content}` : '';
  return `${head},"contentType":"application/json","body":${content}${errors}}`;
}

/** The body with the count as the first element of what is then always an array. */
function counted(body: string | undefined, count: number): string {
  const first = `{"count":${count}}`;
  if (body === undefined || body === '[]') return `[${first}]`;
  return `[${first},${body.startsWith('[') ? body.slice(1, -1) : body}]`;
}

/** The text of an answer with a long body, part by part; the last part closes the message. */
export function answerPieces(pieces: Pieces, { status, count }: Answer, headers: string): Pieces {
  const head = `{"status":${status},"headers":${headers},"contentType":"application/json","body":`;
  let isBegun = false;
  let isEnded = false;
  return {
    async next() {
      if (isEnded) return null;
      const piece = await pieces.next();
      const text = isBegun || count === undefined ? (piece ?? '') : withCount(piece ?? '[]', count);
      const part = `${isBegun ? '' : head}${text}${piece === null ? '}' : ''}`;
      isBegun = true;
      isEnded = piece === null;
      return part;
    },
    close: () => pieces.close(),
  };
}

/** The beginning of an array with the count as its first element. */
const withCount = (beginning: string, count: number): string =>
  `[{"count":${count}}${beginning.startsWith('[]') ? '' : ','}${beginning.slice(1)}`;

/** The text of an event for a subscriber (8.4). */
export function eventText(
  { path, valueJson, createdAt, reliable }: Extract<Notice, { kind: 'event' }>,
  { namespace, username }: Identity,
  headers: string,
): string {
  const who = `"namespace":${JSON.stringify(namespace)},"username":${JSON.stringify(username)}`;
  const sequence = reliable ? `,${JSON.stringify(reliable).slice(1, -1)}` : '';
  const body = `{"path":${JSON.stringify(path)},"value":${valueJson},"createdAt":${createdAt},${who}${sequence}}`;
  return noticeText(headers, body);
}

/** A message that answers no request. */
export const noticeText = (headers: string, body: string): string =>
  `{"status":100,"contentType":"application/json","headers":${headers},"body":${body}}`;
