// Writes that were prepared for a type as it was: while they waited it may have been renamed, deleted or changed.

import type { Document } from 'mongodb';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import { type CascadeError, apiError } from '../../model/errors/index.ts';
import { compareTypes, type TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';

/** Not stored: the store takes what has a name. */
const MADE_FOR = Symbol('made for');
type Noted = Document & { [MADE_FOR]?: TypeDefinition };

/** Notes for which type a document was made. */
export function noteType(document: Noted, type: TypeDefinition): void {
  document[MADE_FOR] = type;
}

/**
 * Why a unit may not be stored: a type that it writes to is gone, so that nobody would find the instance, or holds values of other kinds now.
 */
export function refusalOf({ catalog: { types } }: Pick<Namespace, 'catalog'>, unit: UnitOfWork): CascadeError | null {
  for (const write of unit.writes) {
    if (!write.collection.startsWith('t.') || write.collection.startsWith('t.Ars')) continue;
    if (unit.makes?.has(write.collection)) continue;
    const type = types.ofCollection(write.collection);
    if (!type) return apiError('cascade.resource.type.not.found', types.nameOf(write.collection));
    const before = write.op === 'delete' ? undefined : (write.document as Noted)[MADE_FOR];
    if (!before || before === type) continue;
    const [attribute] = compareTypes(before, type).needsEmpty;
    if (attribute !== undefined) return apiError('cascade.type.change.incompatible', type.name, attribute);
  }
  return null;
}
