// Built-ins for mocked sources, the source for devices, and data of the installation (builtins.md 19, 20, 28.3).
import { encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { resolve, type DefinitionResource, type Namespace, type HostBuiltins } from '../../resources/catalog/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import { changeDefinition, putDefinition, visible } from '../../resources/definitions/index.ts';
import { receive } from '../sources/index.ts';
import { adminOnly, own, sourceNamed } from '../../resources/operations/index.ts';

/** @throws cascade.resource.type.not.found where the installation has no sources */
function sources(space: Namespace): DefinitionResource {
  const found = resolve(space, 'sources', false);
  if (found.kind !== 'definitions') throw apiError('cascade.resource.type.not.found', 'sources');
  return found;
}

const silently = (actor: Actor): Actor => committing(actor, (unit, answer) => actor.commit(unit, answer && { ok: 'null' }));

export const installation: HostBuiltins = {
  'Test.startSourceMocking': async (space, [name = null, query = null, publish = null], actor) => {
    adminOnly(actor, 'update', 'sources');
    const source = sourceNamed(space, name);
    for (const procedure of [query, publish])
      if (procedure !== null && !space.catalog.definitions.get('procedures', String(procedure)))
        throw apiError('cascade.resource.not.found', `/procedures/${String(procedure)}`);
    const before = own(source, 'mockProcedures');
    const mockProcedures: ObjectValue = {
      ...(isObject(before) ? before : {}),
      ...(query === null ? {} : { query }),
      ...(publish === null ? {} : { publish }),
    };
    await changeDefinition(space, sources(space), String(name), { mockMode: true, mockProcedures }, silently(actor));
    return { ok: 'null' };
  },
  'Test.stopSourceMocking': async (space, [name = null], actor) => {
    adminOnly(actor, 'update', 'sources');
    sourceNamed(space, name);
    await changeDefinition(space, sources(space), String(name), { mockMode: false }, silently(actor));
    return { ok: 'null' };
  },
  'Test.sendMockSourceEvent': async (space, [name = null, message = null, topic = null], actor) => {
    adminOnly(actor, 'publish', 'sources');
    const transport = { topic: topic === null ? null : String(topic), properties: '{}' };
    await receive(space, sourceNamed(space, name), message, transport, actor);
    return { ok: 'null' };
  },
  'Utils.initPushSource': async (space, [name = null], actor) => {
    const found = space.catalog.definitions.get('sources', String(name));
    if (found) {
      if (getOwn(found, 'type') !== 'PUSH_NOTIF') throw apiError('cascade.notification.source', name);
      return { ok: encodeInner(visible(sources(space), found)) };
    }
    requireRight(space, sources(space), 'insert', actor.identity);
    const source: Value = { name, type: 'PUSH_NOTIF', config: { targetStandardApp: true } };
    return { ok: encodeInner(await putDefinition(space, sources(space), source, actor, false)) };
  },
};
