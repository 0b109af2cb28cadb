// References to documents, as built-ins take them.
import { fail } from '../errors.ts';
import { toReference } from '../convert/index.ts';
import { isObject, isReference, type ObjectValue, text } from '../values/index.ts';

/**
 * The reference to a document as text.
 * @throws CascadeError cascade.lang.range for what refers to no document
 */
export function documentReference(ref: string | ObjectValue, parameter: string): string {
  const refuse = (): never => fail('cascade.lang.range', parameter, isObject(ref) ? 'an Object' : ref);
  if (isObject(ref) && !isReference(ref)) return refuse();
  const [, resource, name] = /^\/([^/]+)\/([\s\S]+)$/.exec(typeof ref === 'string' && !ref.startsWith('/') ? `/${ref}` : text(ref)) ?? [];
  if (name === undefined || resource?.replace(/^system\./, '') !== 'documents') return refuse();
  return text(toReference(`/documents/${name}`));
}
