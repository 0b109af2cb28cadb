// The uuids of a scheduled event's deliveries (integrations.md 10.4): they follow from what is delivered and for when, so that a delivery has
// the same ones however often, and by whatever process, it is attempted.
import { createHash } from 'node:crypto';

const BYTES = 16;
/** The namespace of these names (RFC 9562 5.5); a random one. */
const DELIVERIES = Buffer.from('6f0b3d1c5a7e4c2f9d8e1b4a7c3f2e60', 'hex');

export interface Tick {
  readonly namespace: string;
  readonly name: string;
  readonly plannedMs: number;
  /** The stored event that plans it: one that is deleted and made anew, or planned anew for the same time, occurs anew. */
  readonly id: string;
  readonly version: bigint;
}

/** Gives a uuid after the other: a topic may unwind its message into several events, and services may implement them. */
export function tickUuids({ namespace, name, plannedMs, id, version }: Tick): () => string {
  let given = 0;
  return () => uuid5(JSON.stringify([namespace, name, plannedMs, id, String(version), given++]));
}

function uuid5(name: string): string {
  const bytes = createHash('sha1').update(DELIVERIES).update(name).digest().subarray(0, BYTES);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50; // version 5
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // the variant of RFC 9562
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
