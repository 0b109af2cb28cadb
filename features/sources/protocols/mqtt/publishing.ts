// Publishes on an MQTT source (integrations.md 3.3): their members, and how many may be unacknowledged.
import type { IClientPublishOptions } from 'mqtt';
import { isObject, type ObjectValue, type Value } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { ContentError, encodeContent } from '../../content/index.ts';
import { checkMembers, type Fits, flag, own, text } from '../fields.ts';

export type Qos = 0 | 1 | 2;

const LEVELS: readonly Value[] = ['AT_MOST_ONCE', 'AT_LEAST_ONCE', 'EXACTLY_ONCE'];
const MOST_BYTES = 65_535;

/** A text that fits an encoded string of MQTT, whose length has 16 bits. */
export const shortText: Fits = (value) => {
  const wrong = text(value);
  if (wrong !== null) return wrong;
  if (String(value).includes('\0')) return 'has a NUL';
  return Buffer.byteLength(String(value)) > MOST_BYTES ? `more than ${MOST_BYTES} bytes` : null;
};

const userProperties: Fits = (value) => {
  if (!isObject(value)) return 'no Object';
  const texts = Object.entries(value).flatMap(([name, one]) => [name, ...[one].flat().map(String)]);
  return texts.every((one) => one === '' || shortText(one) === null) ? null : 'a name or a value that MQTT cannot hold';
};

const MEMBERS = { retain: flag, contentType: shortText, userProperties };

/** The quality of service by its name or number; undefined for another value. */
export function qosOf(value: Value): Qos | undefined {
  const level = typeof value === 'number' ? value : LEVELS.indexOf(value);
  return level === 0 || level === 1 || level === 2 ? level : undefined;
}

export const usualType = (config: ObjectValue): string => String(own(config, 'contentType') ?? 'application/json');

export interface Publication {
  readonly topic: string;
  readonly payload: Buffer;
  readonly options: IClientPublishOptions;
}

/**
 * @param usual the content type of the config
 * @throws cascade.mqtt.topic.missing, .topic.invalid, .message.missing, .qos.invalid; cascade.request.body.invalid for another member, and
 *   for a message that the content type cannot hold
 */
export function publicationOf(source: string, request: ObjectValue, usual: string, isFive: boolean): Publication {
  const topic = own(request, 'topic');
  if (topic === null) throw apiError('cascade.mqtt.topic.missing', source, 'topic');
  if (shortText(topic) !== null || /[+#]/.test(String(topic))) throw apiError('cascade.mqtt.topic.invalid', source, 'topic');
  if (!Object.hasOwn(request, 'message')) throw apiError('cascade.mqtt.message.missing', source, 'message');
  const qos = qosOf(own(request, 'qos') ?? 'AT_MOST_ONCE');
  if (qos === undefined) throw apiError('cascade.mqtt.qos.invalid', source, 'qos');
  checkMembers(request, MEMBERS);
  const contentType = String(own(request, 'contentType') ?? usual);
  const properties = isFive ? { contentType, ...userPropertiesOf(own(request, 'userProperties')) } : null;
  return {
    topic: String(topic),
    payload: encoded(contentType, own(request, 'message')),
    options: { qos, retain: own(request, 'retain') === true, ...(properties && { properties }) },
  };
}

/** @throws cascade.request.body.invalid */
export function encoded(contentType: string, message: Value): Buffer {
  if (message === null) return Buffer.alloc(0);
  try {
    return encodeContent(contentType, message);
  } catch (error) {
    throw error instanceof ContentError ? apiError('cascade.request.body.invalid', `message: ${error.message}`, 0) : error;
  }
}

function userPropertiesOf(value: Value): { userProperties?: Record<string, string | string[]> } {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).map(([name, one]): [string, string | string[]] => [
    name,
    Array.isArray(one) ? one.map(String) : String(one),
  ]);
  return { userProperties: Object.fromEntries(entries) };
}

/** A semaphore: lets a limited number through at a time, and queues the others, until they are refused. */
export class InFlight {
  readonly #most: number;
  #open = 0;
  readonly #waiting: PromiseWithResolvers<void>[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#open >= this.#most) {
      const place = Promise.withResolvers<void>();
      this.#waiting.push(place);
      await place.promise;
    } else this.#open++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next)
        next.resolve(); // the place passes to the next in the queue
      else this.#open--;
    }
  }

  /** Fails all that wait for a place. */
  refuse(reason: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }
}
