// Refuses writes that were prepared for an earlier version of a type: while they waited the type may have been renamed, deleted or changed.

import type { Document } from 'mongodb';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import { type CascadeError, apiError } from '../../model/errors/index.ts';
import { compareTypes, type TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/index.ts';

/** A symbol as key: the store ignores it. */
const MADE_FOR = Symbol('made for');
type Noted = Document & { [MADE_FOR]?: TypeDefinition };

/** Attaches the type that a document was prepared for. */
export function noteType(document: Noted, type: TypeDefinition): void {
  document[MADE_FOR] = type;
}

/**
 * The reason for which a unit may not be stored: a type that it writes to is deleted, so that nobody would find the instance, or its
 * properties have other types now.
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
