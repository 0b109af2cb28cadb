// Backups of namespaces, created and restored by the system admin (resources-and-api.md 13, 11): `POST /backups/<namespace>` with an
// operation. A backup is one answer; a restore is begun, receives its rows in any number of requests, and is ended.
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { ApiReply, ApiRequest } from '../../resources/api.ts';
import { audited } from '../../resources/access/index.ts';
import type { Feature, Namespace } from '../../resources/catalog/index.ts';
import { objectOf, reply, requiredText, requireKnown, textIn } from '../../resources/requests/index.ts';
import { type Head, isHead } from './format.ts';
import { openBackup } from './reading.ts';
import { beginRestore, endRestore, takeRows } from './restoring.ts';
import { keyOf } from './sealing.ts';
import { handedOver, whole } from './whole.ts';

const NAME = 'backups';

/** Operations of resources that have instances: a backup is none. */
const GENERIC = new Set(['select', 'selectOne', 'insert', 'update', 'upsert', 'patch', 'delete', 'aggregate']);

type Carry = (space: Namespace, namespace: string, data: ObjectValue, request: ApiRequest, actor: Actor) => Promise<ApiReply>;

const OPERATIONS: Readonly<Record<string, Carry>> = {
  async backup(space, namespace, data, { streams }, actor) {
    requireKnown(NAME, data, ['key']);
    const opened = await openBackup(space, namespace, keyOf(textIn(NAME, data, 'key')));
    const pieces = await handedOver(opened, () => note(space, namespace, 'backup', actor));
    return streams ? { status: 200, pieces } : reply(await whole(pieces));
  },
  async beginRestore(space, namespace, data) {
    requireKnown(NAME, data, ['head', 'key']);
    const restore = await beginRestore(space, namespace, headIn(data), keyOf(textIn(NAME, data, 'key')));
    return reply(toJson({ restore }));
  },
  async restore(space, namespace, data) {
    requireKnown(NAME, data, ['restore', 'rows', 'key']);
    const rows = Object.hasOwn(data, 'rows') ? getOwn(data, 'rows') : null;
    if (!Array.isArray(rows) || !rows.every((row) => typeof row === 'string')) throw invalid('rows', 'no array of String');
    await takeRows(space, namespace, requiredText(NAME, data, 'restore'), rows, keyOf(textIn(NAME, data, 'key')));
    return reply('{}');
  },
  async endRestore(space, namespace, data, _request, actor) {
    requireKnown(NAME, data, ['restore', 'rows']);
    const rows = Object.hasOwn(data, 'rows') ? Number(getOwn(data, 'rows')) : Number.NaN;
    if (!Number.isSafeInteger(rows) || rows < 0) throw invalid('rows', 'no whole number');
    await endRestore(space, namespace, requiredText(NAME, data, 'restore'), rows, actor.identity.username);
    await note(space, namespace, 'restore', actor);
    return reply('{}');
  },
};

const invalid = (property: string, reason: string) => apiError('cascade.resource.property.invalid', NAME, property, reason);

/** @throws backup.invalid */
function headIn(data: ObjectValue): Head {
  const given: Value = Object.hasOwn(data, 'head') ? getOwn(data, 'head') : null;
  const head = isObject(given) ? (JSON.parse(toJson(given)) as unknown) : null;
  if (!isHead(head)) throw apiError('cascade.backup.invalid', 'it does not begin as one');
  return head;
}

/** Audits the operation in the installation, since the namespace's own audits are not part of a backup. */
async function note(space: Namespace, namespace: string, op: string, actor: Actor): Promise<void> {
  const { username } = actor.identity;
  await actor.commit(
    audited(space, { entity: `/namespaces/${namespace}`, op, message: `${op} of /namespaces/${namespace} by ${username}` }, actor),
  );
}

/** @throws method.not.allowed, authorization.denied, operation.unknown */
async function carryOut(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { op, resourceId } = request;
  const { system, restricted, lent } = actor.identity;
  if (system !== true || restricted === true || lent === true) throw apiError('cascade.authorization.denied', op, NAME);
  if (resourceId === undefined) throw apiError('cascade.method.not.allowed', op, NAME);
  if (GENERIC.has(op)) throw apiError('cascade.method.not.allowed', op, NAME);
  if (!Object.hasOwn(OPERATIONS, op)) throw apiError('cascade.operation.unknown', op);
  return OPERATIONS[op]!(space, resourceId, objectOf(request.object ?? null), request, actor);
}

export const backups: Feature = { name: NAME, requests: { [NAME]: carryOut } };
