// References to instances (builtins.md 11, 20). Which resources there are only the host knows.
import type { ObjectValue, Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { documentReference } from './documents.ts';

/** The marker that a source replaces by a document's content when it sends. */
function packageReference(_: BuiltinContext, ref: string | ObjectValue, forceBase64: boolean): Value {
  return { ars_packagedReference: documentReference(ref, 'ref'), forceBase64 };
}

export const references: readonly Declaration[] = [
  {
    call: 'Utils.buildResourceRef(resourceType: String, instance: Object) => String',
    forms: 'S',
    about: 'The reference to an instance as text.',
    errors: ['cascade.resource.not.found', 'cascade.lang.range'],
    effect: 'suspends',
  },
  {
    call: 'Utils.buildResourceRefMap(resourceType: String, instance: Object) => Object',
    forms: 'S',
    about: 'The reference to an instance as {resource, resourceId}.',
    errors: ['cascade.resource.not.found', 'cascade.lang.range'],
    effect: 'suspends',
  },
  {
    call: 'Utils.packageReference(ref: String|Object, forceBase64: Boolean = false) => Object',
    forms: 'S',
    about: 'Stands for the content of a document in what a source sends.',
    errors: ['cascade.lang.range'],
    run: packageReference,
  },
  {
    call: 'Utils.get(ref: String|Object) => Object',
    forms: 'S',
    about: 'The instance that a reference names, or null.',
    errors: ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.authorization.denied'],
    effect: 'suspends',
  },
];
