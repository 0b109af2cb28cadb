// Snapshots of errors that a program did not catch (language.md H4): instances of ArsRuleSnapshot, on which rules may listen.

import { DateTime, fromInner, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import type { RunError } from '../../runtime/runs/index.ts';
import { instanceToBson } from '../../model/values/index.ts';
import { SNAPSHOTS } from './diagnostic-types.ts';
import { raise } from '../../runtime/events/index.ts';
import { stampNew } from '../../resources/representation/index.ts';
import { SNAPSHOT_TYPE, type Namespace } from '../../resources/catalog/index.ts';

const PATH = '/types/ArsRuleSnapshot/insert';

/**
 * The unit of work that stores a snapshot; empty for errors of rules that listen on snapshots and of all that runs within them, which would
 * otherwise cause endless snapshots.
 */
export function snapshot(
  space: Namespace,
  resource: string,
  invocation: string,
  error: RunError,
  actor: Actor,
): Pick<UnitOfWork, 'writes' | 'events'> {
  if (actor.event?.event.path === PATH || listensOnSnapshots(space, resource)) return { writes: [], events: [] };
  const [, kind = '', ...name] = resource.split('/');
  const instance: ObjectValue = {
    entryType: 'error',
    resource: { resource: kind, resourceId: name.join('/') },
    error: { code: error.code, message: error.message, params: fromInner(error.params) },
    line: error.line,
    column: error.column,
    invocationId: invocation,
    timestamp: new DateTime(actor.clock.now()),
    username: actor.identity.username,
  };
  const stamped = stampNew(instance, actor);
  const document = instanceToBson(SNAPSHOT_TYPE, stamped) as never;
  return { writes: [{ collection: SNAPSHOTS.collection, op: 'insert', document }], events: raise(space, PATH, stamped, actor) };
}

function listensOnSnapshots(space: Namespace, resource: string): boolean {
  const rule = resource.startsWith('/rules/') ? space.catalog.definitions.get('rules', resource.slice('/rules/'.length)) : undefined;
  const triggers = rule?.['triggers'];
  return Array.isArray(triggers) && triggers.some((trigger) => (trigger as ObjectValue)['path'] === PATH);
}
