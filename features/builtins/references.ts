// Built-ins for references: they create one, and read the instance that one names (builtins.md 11).
import { CascadeError, langError } from '../../stdlib/errors.ts';
import { encodeInner, getOwn, isInteger, isReference, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { SYSTEM_RESOURCES } from '../../model/types/index.ts';
import { rowsOf } from './resource-api.ts';
import type { Namespace, HostBuiltins } from '../../resources/catalog/index.ts';

/** `/<resource>/<id>`; of a type also `/custom/<type>/<id>`. */
const SHAPE = /^\/?(custom\/)?([^/]+)\/([\s\S]+)$/;

/** @throws cascade.lang.range for a text that is no reference */
function partsOf(ref: Value): { custom: true | null; resourceName: string; resourceId: string } {
  const written = typeof ref === 'string' ? ref : isReference(ref) ? text(ref) : '';
  const [, custom, resourceName, resourceId] = SHAPE.exec(written) ?? [];
  if (resourceName === undefined || resourceId === undefined)
    throw langError('cascade.lang.range', 'ref', typeof ref === 'string' ? ref : 'an Object');
  return { custom: custom === undefined ? null : true, resourceName, resourceId };
}

/** Resources of the service whose natural key is not `name` (resources-and-api.md 1.2). */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['users', 'username'],
  ['namespaces', 'namespace'],
  ['audits', 'auditId'],
  ['tokens', 'accessToken'],
  ['collaborations', 'id'],
  ['logs', '_id'],
  ['deadletters', '_id'],
  ['deploystatus', '_id'],
]);

/** @throws cascade.resource.not.found for a name of neither a resource nor a type, of the service or of the namespace */
function referenceTo(space: Namespace, resourceType: string, instance: ObjectValue): { resource: string; resourceId: string } {
  const resource = resourceType.replace(/^system\./, '');
  if (resource === '') throw langError('cascade.lang.range', 'resourceType', resourceType);
  const { features, types } = space.catalog;
  const ofService = features.ofType(resource) ?? features.installationResource(resource, null);
  if (!ofService && !SYSTEM_RESOURCES.has(resource) && !types.has(resource)) throw apiError('cascade.resource.not.found', `/${resource}`);
  const name = ofService?.name ?? resource; // the service's own by the name of their types: ArsUser is users
  const key = KEYS.get(name) ?? (SYSTEM_RESOURCES.has(name) ? 'name' : '_id');
  const id = getOwn(instance, key);
  if ((typeof id !== 'string' && !isInteger(id)) || id === '')
    throw langError('cascade.lang.range', 'instance', `an Object without ${key}`);
  return { resource, resourceId: text(id) };
}

export const references: HostBuiltins = {
  'Utils.buildResourceRef': async (space, [type = null, instance = null]) => ({
    ok: encodeInner(text(referenceTo(space, text(type), instance as ObjectValue))),
  }),
  'Utils.buildResourceRefMap': async (space, [type = null, instance = null]) => ({
    ok: encodeInner(referenceTo(space, text(type), instance as ObjectValue)),
  }),
  'Utils.get': async (space, [ref = null], actor) => {
    const { custom, resourceName, resourceId } = partsOf(ref);
    try {
      const [found = null] = await rowsOf(
        space,
        { identity: actor.identity, op: 'select', resourceName, custom, resourceId, parameters: {} },
        actor,
      );
      return { ok: encodeInner(found) };
    } catch (error) {
      if (!(error instanceof CascadeError)) throw error;
      if (error.code === 'cascade.resource.not.found') return { ok: 'null' };
      throw error.code === 'cascade.resource.type.not.found' ? apiError('cascade.resource.not.found', `/${resourceName}`) : error;
    }
  },
};
