// The connection of a WEBHOOK source: checks signature, age and content, and raises one event for each deduplication key.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { apiError } from '../../../../model/errors/index.ts';
import { type ObjectValue, setOwn, type Value } from '../../../../stdlib/values/index.ts';
import { ContentError, decodeContent } from '../../content/index.ts';
import { own } from '../fields.ts';
import type { Connection, InboundReply, InboundRequest, SourceContext } from '../protocol.ts';
import { Refusals } from '../refusals.ts';

const DEFAULT_SIZE = 1_048_576;
const DEFAULT_TOLERANCE_S = 300;
const LONGEST_KEY = 200;
/** Headers about the caller that rules do not see. */
const WITHHELD = /^(?:authorization|proxy-authorization|cookie2?|forwarded|x-forwarded-.*|x-real-ip)$/;

export function openWebhook(context: SourceContext): Connection {
  const setting = (name: string, otherwise: string): string => String(own(context.config, name) ?? otherwise);
  const signatureHeader = setting('signatureHeader', 'X-Cascade-Signature').toLowerCase();
  const idempotencyHeader = setting('idempotencyHeader', 'X-Cascade-Delivery').toLowerCase();
  const timestampHeader = own(context.config, 'timestampHeader');
  const algorithm = setting('algorithm', 'sha256');
  const most = Number(own(context.config, 'maxMessageSize') ?? DEFAULT_SIZE);
  const refusals = new Refusals(context);

  /** Whether the signature is valid, for the body as it was sent or for `<timestamp>.<body>`. */
  const isSigned = ({ headers, body }: InboundRequest): boolean => {
    const hmac = createHmac(algorithm, setting('inboundSecret', ''));
    if (timestampHeader !== null) {
      const timestamp = valueOf(headers, String(timestampHeader).toLowerCase()) ?? '';
      const tolerance = Number(own(context.config, 'timestampTolerance') ?? DEFAULT_TOLERANCE_S);
      if (!/^\d{1,13}$/.test(timestamp) || Math.abs(context.now() / 1_000 - Number(timestamp)) > tolerance) return false;
      hmac.update(`${timestamp}.`);
    }
    const expected = Buffer.from(
      setting('signaturePrefix', `${algorithm}=`) + hmac.update(body).digest(setting('encoding', 'hex') as 'hex'),
    );
    const given = Buffer.from(valueOf(headers, signatureHeader) ?? '', 'latin1');
    return given.length === expected.length && timingSafeEqual(given, expected);
  };

  return {
    async accept(request): Promise<InboundReply> {
      const { headers } = request;
      if (!isSigned(request)) {
        refusals.note();
        throw apiError('cascade.webhook.authentication.failed');
      }
      const body = await request.content(most);
      const key = valueOf(headers, idempotencyHeader);
      if (key !== undefined && key.length > LONGEST_KEY)
        throw apiError('cascade.request.parameter.invalid', idempotencyHeader, key.slice(0, 50));
      const value = await decoded(context.namespace, setting('contentType', headers['content-type'] ?? 'application/json'), body);
      const properties: ObjectValue = { headers: shown(headers) };
      const outcome = await context.deliver({ value, properties, ...(key && { onceKey: key }) });
      return { status: 200, body: outcome === 'repeated' ? { repeated: true } : {} };
    },
    close: async () => undefined,
  };
}

/** The names come from the config: `constructor` is a header there, too. */
const valueOf = (headers: InboundRequest['headers'], name: string): string | undefined =>
  Object.hasOwn(headers, name) ? headers[name] : undefined;

async function decoded(owner: string, contentType: string, body: Uint8Array): Promise<Value> {
  try {
    return await decodeContent(owner, contentType, body);
  } catch (error) {
    throw error instanceof ContentError ? apiError('cascade.request.body.invalid', error.message, 0) : error;
  }
}

function shown(headers: InboundRequest['headers']): ObjectValue {
  const object: ObjectValue = {};
  for (const [name, value] of Object.entries(headers)) if (!WITHHELD.test(name)) setOwn(object, name, value);
  return object;
}
