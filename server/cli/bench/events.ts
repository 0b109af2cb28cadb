// The events to send: those of a file, or generated instances of a type.
import { parseExact } from '../../../features/projects/index.ts';
import { readSource, UsageError } from '../terminal.ts';

/** A request that raises an event, and the event's value. */
export interface BenchEvent {
  /** The type whose instance is inserted, or the topic that is published to. */
  readonly on: { readonly type: string } | { readonly topic: string };
  readonly value: unknown;
}

const RESOURCES = '/api/v1/resources';
const MOST_EVENTS = 1_000_000;
const EXAMPLE = 'lines are {"type": "Pump", "object": {…}} or {"topic": "/plant/alarm", "value": …}';

/** @throws UsageError that names the line of an invalid event */
export async function readEvents(file: string): Promise<BenchEvent[]> {
  const lines = (await readSource(file)).replace(/^\uFEFF/, '').split('\n');
  const events = lines.flatMap((line, index) => (line.trim() === '' ? [] : [eventOf(line, `${file}, line ${index + 1}`)]));
  if (events.length === 0) throw new UsageError(`${file} holds no events: ${EXAMPLE}.`);
  if (events.length > MOST_EVENTS) throw new UsageError(`${file} holds more than ${MOST_EVENTS.toLocaleString('en')} events.`);
  return events;
}

function eventOf(line: string, place: string): BenchEvent {
  let parsed: unknown;
  try {
    parsed = parseExact(line);
  } catch (error) {
    throw new UsageError(`${place} is no JSON: ${(error as Error).message}`);
  }
  const { type, object, topic, value, ...others } = isObject(parsed) ? parsed : { type: null };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new UsageError(`${place}: '${unknown}' is no member of an event; ${EXAMPLE}.`);
  if (typeof type === 'string' && isObject(object) && topic === undefined && value === undefined) return { on: { type }, value: object };
  if (typeof topic === 'string' && topic.startsWith('/') && value !== undefined && type === undefined && object === undefined)
    return { on: { topic }, value };
  throw new UsageError(`${place} is no event: ${EXAMPLE}.`);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The destination of requests, and their token. */
export interface Address {
  /** The base URL `http://host:port`, with a path where the service is behind one. */
  readonly url: string;
  readonly token: string;
}

/** The path of the event's request, below the address of the service. */
export const pathOf = ({ on }: BenchEvent): string =>
  `${RESOURCES}/${'type' in on ? `custom/${encodeURIComponent(on.type)}` : `topics${on.topic.split('/').map(encodeURIComponent).join('/')}`}`;

/** The event's request as it is written to a socket. */
export function requestOf(event: BenchEvent, { url, token }: Address): Buffer {
  const { host, pathname } = new URL(url);
  const body = JSON.stringify(event.value);
  return Buffer.from(
    `POST ${pathname.replace(/\/$/, '')}${pathOf(event)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
