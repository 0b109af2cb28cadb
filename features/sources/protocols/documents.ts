// References to documents in requests.
import { convert } from '../../../stdlib/convert/index.ts';
import { isReference, type Value } from '../../../stdlib/values/index.ts';

/** The document that a value refers to; null where it refers to none. */
export function documentNameOf(value: Value): string | null {
  let reference: Value;
  try {
    reference = convert(value, { type: 'ResourceReference' }, 'property');
  } catch {
    return null; // an invalid name is no reference
  }
  return isReference(reference) && /^(?:system\.)?documents$/.test(reference.resource) ? reference.resourceId : null;
}
