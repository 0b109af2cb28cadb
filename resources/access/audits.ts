// Audits (resources-and-api.md 4.17, 8.3): who did what to which instance, stored in the same commit as the change. They hold no values.
// Every change of an audited resource asks here for the writes and events to add.
import { randomUUID } from 'node:crypto';
import { DateTime, getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Initiator } from '../../runtime/context/index.ts';
import type { UnitOfWork, Write } from '../../runtime/transactions/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { instanceToBson } from '../../model/values/index.ts';
import { systemType, type InstanceResource, type Installation, type Namespace, type Change } from '../catalog/index.ts';
import { idOf, stampNew } from '../representation/index.ts';

export const AUDIT_TYPE = systemType(
  'ArsAudit',
  {
    entity: 'required ResourceReference',
    message: 'required String',
    op: 'String',
    auditId: 'indexed String',
    timestamp: 'DateTime',
    node: 'String',
    nodeUUID: 'String',
    username: 'Username',
  },
  ['auditId'],
);
export const AUDITS = 't.ArsAudit';

export interface AuditEntry {
  /** The path `/<resource>/<id>`. */
  readonly entity: string;
  readonly op?: string | null;
  readonly message: string;
  readonly others?: ObjectValue;
}

/** The stored form of an audit. Callers cannot give the properties that the service sets. */
export function newAudit(
  space: { readonly installation: { readonly about: Pick<Installation['about'], 'nodeUuid'> } },
  { entity, op, message, others = {} }: AuditEntry,
  initiator: Initiator,
): ObjectValue {
  const [, resource = '', resourceId = ''] = /^\/([^/]+)\/(.*)$/s.exec(entity) ?? [];
  const audit: ObjectValue = { entity: { resource, resourceId }, message, ...(op != null && { op }) };
  const set: ObjectValue = {
    auditId: randomUUID(),
    timestamp: new DateTime(initiator.clock.now()),
    node: 'self',
    nodeUUID: space.installation.about.nodeUuid ?? null,
    username: initiator.identity.username,
  };
  return stampNew({ ...others, ...audit, ...set }, initiator);
}

export const auditWrite = (audit: ObjectValue): Write => ({
  collection: AUDITS,
  op: 'insert',
  document: instanceToBson(AUDIT_TYPE, audit) as never,
  isNew: true,
});

/**
 * The writes of an audited operation and its event (8.1).
 * @param ofType the operation is on instances of a type: their audits raise no event
 */
export function audited(space: Namespace, entry: AuditEntry, initiator: Initiator, ofType = false): UnitOfWork {
  const writes = [auditWrite(newAudit(space, entry, initiator))];
  if (ofType) return { writes, events: [] };
  const [, resource = ''] = entry.entity.split('/');
  const value: ObjectValue = { entity: entry.entity, op: entry.op ?? null, message: entry.message };
  return { writes, events: raise(space, `/audits/${resource}/publish`, value, initiator) };
}

type Changed = Change['operation'];

/**
 * The audit of a change of one instance or definition; null where its resource is not audited. A change of many instances has one audit
 * (8.3).
 */
export function auditOf(space: Namespace, { operation, resource, before, after, initiator, isOneOfMany }: Change): UnitOfWork | null {
  const stored = after ?? before;
  if (isOneOfMany || !stored) return null;
  if (resource.kind === 'definitions')
    return resource.audited ? entryFor(space, `/${resource.name}/${String(getOwn(stored, 'name'))}`, operation, initiator) : null;
  return resource.type.audited ? entryFor(space, `/${resource.name}/${idOf(stored)}`, operation, initiator, true) : null;
}

/** The audit of a statement that has changed several instances of a type. */
export const auditOfMany = (space: Namespace, { type }: InstanceResource, op: Changed, initiator: Initiator): UnitOfWork['writes'] =>
  type.audited ? entryFor(space, `/types/${type.name}`, op, initiator, true).writes : [];

export const entryFor = (space: Namespace, entity: string, op: string, initiator: Initiator, ofType = false): UnitOfWork =>
  audited(space, { entity, op, message: `${op} of ${entity} by ${initiator.identity.username}` }, initiator, ofType);
