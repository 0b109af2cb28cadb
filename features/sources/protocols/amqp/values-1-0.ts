// Values and messages of AMQP 1.0 as the language has them, and as rhea sends them.
import { randomUUID } from 'node:crypto';
import type { Message } from 'rhea';
import { DateTime, MAX_DATA_DEPTH, type Value } from '../../../../stdlib/values/index.ts';
import { type Publication, sentProperties } from './common.ts';
import rhea from './library-1-0.ts';

const LIBRARY = {
  long(value: bigint): unknown {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(value);
    return rhea.types.wrap_long(bytes);
  },
  instant: (ms: number): unknown => new Date(ms),
};

export function messageOf({ body, contentType, properties, durable, ttl, correlationId, replyTo, subject }: Publication): Message {
  return {
    message_id: randomUUID(),
    body: rhea.message.data_section(body) as unknown,
    content_type: contentType,
    durable,
    ...(Object.keys(properties).length > 0 && { application_properties: sentProperties(properties, LIBRARY) }),
    ...(ttl !== null && { ttl }),
    ...(correlationId !== null && { correlation_id: correlationId }),
    ...(replyTo !== null && { reply_to: replyTo }),
    ...(subject !== null && { subject }),
  };
}

const DATA_SECTION = 0x75;

/** The bytes of the data sections, concatenated; null for a body that is a value. */
export function dataIn(body: unknown): Buffer | null {
  const { typecode, content } = (body ?? {}) as { typecode?: unknown; content?: unknown };
  if (typecode !== DATA_SECTION) return null;
  return Buffer.isBuffer(content) ? content : Buffer.concat((content as Buffer[]) ?? []);
}

/** What rhea's wrappers of a value and its encoding descend from: members named `type` and `value` may be a sender's own. */
const TYPED = Object.getPrototypeOf(rhea.types.wrap_long(0)) as object;

/** Converts a value of AMQP to one of the language. @throws RangeError for one that is too deep */
export function valueOf(body: unknown, depth = 0): Value {
  if (body === null || body === undefined) return null;
  if (typeof body === 'string' || typeof body === 'boolean' || typeof body === 'number' || typeof body === 'bigint') return body;
  if (body instanceof Date) return new DateTime(body.getTime());
  if (Buffer.isBuffer(body)) return { contentType: 'application/octet-stream', size: body.length, base64: body.toString('base64') };
  if (Object.getPrototypeOf(body) === TYPED) return valueOf((body as { value: unknown }).value, depth);
  if (depth >= MAX_DATA_DEPTH) throw new RangeError(`nesting deeper than ${MAX_DATA_DEPTH}`);
  if (Array.isArray(body)) return body.map((element) => valueOf(element, depth + 1));
  return Object.fromEntries(Object.entries(body).map(([name, member]) => [name, valueOf(member, depth + 1)]));
}

/** What an error of rhea says. */
export function textOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { condition, description, message } = error as { condition?: string; description?: string; message?: string };
  return message ?? ([condition, description].filter(Boolean).join(': ') || undefined);
}
