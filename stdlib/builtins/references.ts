// References to instances (builtins.md 11, 20). Whether a type exists only the host knows; here its name is taken as it is.
import { toReference } from '../convert/index.ts';
import { fail } from '../errors.ts';
import { getOwn, isInteger, isObject, isReference, type ObjectValue, text, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';

/** System resources whose instances are not named by `name` (resources-and-api.md 1.2). */
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
const NAMED: ReadonlySet<string> = new Set(
  (
    'configurations debugconfigs deployconfigs documents groups nodes organizations procedures profiles projects rules scalars ' +
    'scheduledevents secrets services sources topics types'
  ).split(' '),
);

function referenceTo(resourceType: string, instance: ObjectValue): { resource: string; resourceId: string } {
  const resource = resourceType.replace(/^system\./, '');
  if (resource === '') fail('cascade.lang.range', 'resourceType', resourceType);
  const key = KEYS.get(resource) ?? (NAMED.has(resource) ? 'name' : '_id');
  const id = getOwn(instance, key);
  if ((typeof id !== 'string' && !isInteger(id)) || id === '') return fail('cascade.lang.range', 'instance', `an Object without ${key}`);
  return { resource, resourceId: text(id) };
}

/** The marker that a source replaces by a document's content when it sends. */
function packageReference(_: BuiltinContext, ref: string | ObjectValue, forceBase64: boolean): Value {
  const refuse = (): never => fail('cascade.lang.range', 'ref', isObject(ref) ? 'an Object' : ref);
  if (isObject(ref) && !isReference(ref)) return refuse();
  const [, resource, name] = /^\/([^/]+)\/([\s\S]+)$/.exec(typeof ref === 'string' && !ref.startsWith('/') ? `/${ref}` : text(ref)) ?? [];
  if (name === undefined || resource?.replace(/^system\./, '') !== 'documents') return refuse();
  return { ars_packagedReference: text(toReference(`/documents/${name}`)), forceBase64 };
}

export const references: readonly Declaration[] = [
  {
    call: 'Utils.buildResourceRef(resourceType: String, instance: Object) => String',
    forms: 'S',
    about: 'The reference to an instance as text.',
    run: (_, resourceType: string, instance: ObjectValue) => text(referenceTo(resourceType, instance)),
  },
  {
    call: 'Utils.buildResourceRefMap(resourceType: String, instance: Object) => Object',
    forms: 'S',
    about: 'The reference to an instance as {resource, resourceId}.',
    run: (_, resourceType: string, instance: ObjectValue) => referenceTo(resourceType, instance),
  },
  {
    call: 'Utils.packageReference(ref: String|Object, forceBase64: Boolean = false) => Object',
    forms: 'S',
    about: 'Stands for the content of a document in what a source sends.',
    run: packageReference,
  },
  {
    call: 'Utils.get(ref: String|Object) => Object',
    forms: 'S',
    about: 'The instance that a reference names, or null.',
    effect: 'suspends',
  },
];
