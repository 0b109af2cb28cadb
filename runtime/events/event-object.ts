// The event object that rules see (language.md 6.1), in its two forms: a value for conditions, and inner JSON for programs.

import { DateTime, decodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';

/** The facts that an event object is made of. */
export interface EventFacts {
  readonly uuid: string;
  readonly path: string;
  /** Its arrival, milliseconds since the epoch. */
  readonly atMs: number;
  /** Of reliable resources (integrations.md 12.3). */
  readonly redelivered?: boolean;
  /** Counted from 1. */
  readonly deliveryCount?: number;
  /** Of messages: the topic, and inner JSON of the transport's properties. */
  readonly transport?: { readonly topic: string | null; readonly properties: string };
}

export function eventObject(
  { uuid, path, atMs, redelivered = false, deliveryCount = 1, transport }: EventFacts,
  value: Value,
  namespace: string,
): ObjectValue {
  return {
    uuid,
    path,
    value,
    newValue: value,
    createdAt: new DateTime(atMs),
    topic: transport?.topic ?? null,
    redelivered,
    deliveryCount,
    properties: transport ? decodeInner(transport.properties) : {},
    ars_namespace: namespace,
  };
}

/** Without `newValue`, which the isolate adds: the payload is sent once. @param valueJson inner JSON of the payload */
export function eventObjectJson(
  { uuid, path, atMs, redelivered = false, deliveryCount = 1, transport }: EventFacts,
  valueJson: string,
  namespace: string,
): string {
  const head = JSON.stringify({
    uuid,
    path,
    createdAt: `\u0001t${atMs}`,
    topic: transport?.topic ?? null,
    redelivered,
    deliveryCount,
    ars_namespace: namespace,
  });
  return `${head.slice(0, -1)},"properties":${transport?.properties ?? '{}'},"value":${valueJson}}`;
}
