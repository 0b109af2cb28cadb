// The resource `audits` (resources-and-api.md 4.17): any user may insert audits, nobody may change them.
import { convert } from '../../stdlib/convert/index.ts';
import { encodeInner, getOwn, isObject, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { admit, AUDIT_TYPE, AUDITS, auditWrite, newAudit } from '../../resources/access/index.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/index.ts';
import { checkFields, textField } from '../../resources/definitions/index.ts';
import { ensureCollection } from '../../resources/collections/index.ts';

export const AUDIT_RESOURCE: InstanceResource = {
  kind: 'instances',
  name: 'audits',
  type: AUDIT_TYPE,
  collection: AUDITS,
  operations: new Set(['select', 'aggregate', 'insert', 'delete']),
  defaultSort: { _id: 1 },
  isLazy: true,
  answers: 'object',
  guard: { insert },
};

const FIELDS = { name: 'audits', type: AUDIT_TYPE };
/** Properties that the service sets, whatever the caller gives. */
const SET_BY_SERVICE = ['auditId', 'timestamp', 'node', 'nodeUUID', 'username'];

/** @throws resource.property.required, resource.property.invalid, resource.property.unknown */
async function insert(space: Namespace, resource: InstanceResource, body: Value, actor: Actor): Promise<ObjectValue> {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const given: ObjectValue = {};
  for (const key of Object.keys(body)) if (!SET_BY_SERVICE.includes(key)) given[key] = getOwn(body, key);
  const { entity, message: _, op = null, ...others } = checkFields(FIELDS, given, 'refused');
  if (entity === undefined || entity === null) throw apiError('cascade.resource.property.required', 'audits', 'entity');
  const message = textField('audits', body, 'message');
  const named = text(referenceIn(entity));
  await ensureCollection(space, resource);
  const audit = newAudit(space, { entity: named, op: op as string | null, message, others }, actor);
  const ofResource = (named.split('/')[1] ?? '').replace(/^system\./, '');
  const value: ObjectValue = { entity: named, op, message };
  const events = space.catalog.types.has(ofResource) ? [] : raise(space, `/audits/${ofResource}/publish`, value, actor);
  await admit(space, { operation: 'insert', resource, before: null, after: audit, initiator: actor });
  await actor.commit({ writes: [auditWrite(audit)], events }, { ok: encodeInner(audit) });
  return audit;
}

function referenceIn(entity: Value): Value {
  try {
    return convert(entity, { type: 'ResourceReference' }, 'property');
  } catch {
    throw apiError('cascade.resource.property.invalid', 'audits', 'entity', 'no ResourceReference');
  }
}
