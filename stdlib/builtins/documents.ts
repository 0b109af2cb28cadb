// Where a built-in wants the content of a document: this version keeps none, so whichever is named is not there.
import { CascadeError, fail } from '../errors.ts';
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

/** @throws CascadeError cascade.resource.not.found */
export function missingDocument(path: string): never {
  throw new CascadeError('cascade.resource.not.found', `${path} was not found.`, [path], 404);
}
