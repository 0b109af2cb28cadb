// Messages in the logs of a namespace that the service itself writes: of what it does there without a run (resources-and-api.md 4.18).
import { Long, ObjectId } from 'mongodb';
import type { LogEntry } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

export interface ServiceMessage {
  readonly level: 'WARN' | 'ERROR';
  readonly message: string;
  /** What it is about. */
  readonly resource: { readonly resource: string; readonly resourceId: string };
  /** The name of the resource where nothing else is given. */
  readonly invocationId?: string;
  /** The user who may read it besides admins. */
  readonly username?: string;
}

/** The entry, for a caller that commits it in a unit of its own. */
export const serviceMessage = (
  { clock }: Pick<Namespace, 'clock'>,
  { level, message, resource, invocationId = resource.resourceId, username = 'system' }: ServiceMessage,
): LogEntry => ({
  _id: new ObjectId(),
  invocationId,
  level,
  message,
  sequenceId: Long.ZERO,
  timestamp: new Date(clock.now()),
  resource,
  username,
  ars_version: Long.ONE,
});
