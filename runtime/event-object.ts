// The event object that rules see (language.md 6.1), in its two forms: a value for conditions, and inner JSON for programs.

import { DateTime, type ObjectValue, type Value } from '../stdlib/values/index.ts';

/** What an event object is made of. */
export interface EventFacts {
  readonly uuid: string;
  readonly path: string;
  /** Its arrival, milliseconds since the epoch. */
  readonly atMs: number;
  /** Of a reliable resource (integrations.md 12.3). */
  readonly redelivered?: boolean;
  /** From 1. */
  readonly deliveryCount?: number;
}

export function eventObject(
  { uuid, path, atMs, redelivered = false, deliveryCount = 1 }: EventFacts,
  value: Value,
  namespace: string,
): ObjectValue {
  return {
    uuid,
    path,
    value,
    newValue: value,
    createdAt: new DateTime(atMs),
    topic: null,
    redelivered,
    deliveryCount,
    properties: {},
    ars_namespace: namespace,
  };
}

/** Without `newValue`, which the isolate adds: the payload is sent once. @param valueJson inner JSON of the payload */
export function eventObjectJson(
  { uuid, path, atMs, redelivered = false, deliveryCount = 1 }: EventFacts,
  valueJson: string,
  namespace: string,
): string {
  const head = JSON.stringify({
    uuid,
    path,
    createdAt: `\u0001t${atMs}`,
    topic: null,
    redelivered,
    deliveryCount,
    properties: {},
    ars_namespace: namespace,
  });
  return `${head.slice(0, -1)},"value":${valueJson}}`;
}
