// What a namespace keeps about its programs without being told to: how many bytes of each kind, and the word when some were dropped.
import type { Removed } from '../../platform/mongo/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { serviceMessage } from './service-messages.ts';

/** Of each kind, where the organization's quota says nothing. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** The bound of each kind of diagnostic data of a namespace. */
export async function diagnosticsBytes(space: Namespace): Promise<number> {
  return (await space.installation.quotas.of(space.name))?.limit('diagnosticsBytes') ?? MOST_BYTES;
}

/**
 * Tells in the logs of the namespace what was dropped that had not expired.
 * @param removed by what the rows are, in words
 */
export async function tellOfExcess(space: Namespace, removed: Readonly<Record<string, Removed>>, mostBytes: number): Promise<void> {
  const dropped = Object.entries(removed).filter(([, { excess }]) => excess > 0);
  if (dropped.length === 0) return;
  const what = dropped.map(([name, { excess }]) => `${excess} ${name}`).join(', ');
  await tell(space, `dropped before their time, the oldest first: ${what} (of each kind ${mostBytes} bytes are kept)`);
}

/** Tells that long replies to requests with an id are not kept for their repetition until some have expired. */
export const tellOfFullAnswers = (space: Namespace, mostBytes: number): Promise<void> =>
  tell(
    space,
    `replies to requests with X-Cascade-Request-Id take ${mostBytes} bytes: above 4 KiB they are not kept until older ones expire`,
  );

async function tell(space: Namespace, message: string): Promise<void> {
  const resource = { resource: 'namespaces', resourceId: space.name };
  const entry = serviceMessage(space, { level: 'WARN', message, resource, invocationId: 'retention' });
  await space.transactions.submit({ writes: [], events: [], logs: [entry] }, true);
}
