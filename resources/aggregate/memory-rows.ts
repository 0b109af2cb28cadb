// Rows of a pipeline that are in memory, as documents of the pipeline: accounts, and definitions that the store has not, or not as they are
// shown.

import { BSON, type Document } from 'mongodb';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { toBson } from '../../model/values/index.ts';
import { definitionsFor } from '../access/index.ts';
import type { Identity } from '../api.ts';
import { type DefinitionResource, DEFINITIONS, type Namespace } from '../catalog/index.ts';

/** Bound of rows in a command: the store takes 16 MiB. */
const MOST_GIVEN_BYTES = 12 * 1024 * 1024;

/** Rows that are not in a collection of the namespace: all that the caller may see. */
export interface Rows {
  readonly kind: 'rows';
  readonly name: string;
  readonly type: TypeDefinition;
  readonly rows: readonly ObjectValue[];
}

const NONE: Document = { $match: { _id: { $in: [] } } };

/** Stages that begin a pipeline on any collection. @throws query.too.expensive: too many rows for one command */
export const givenRows = ({ rows }: Rows): Document[] => [NONE, given(rows)];

/**
 * Stages that begin a pipeline on the collection of definitions: those that SELECT would show the caller, as it would and in its order as
 * far as they are of one origin.
 * @throws query.too.expensive: too many of them are in memory only
 */
export function definitionRows(space: Namespace, kind: DefinitionResource, caller: Identity): Document[] {
  const seen = definitionsFor(space, kind, caller);
  const fromMemory = new Map<string, ObjectValue>();
  for (const [name, stored] of seen) {
    const shown = kind.show?.(space, stored) ?? stored;
    if (kind.isTransient?.(stored) || !isAsStored(shown, stored)) fromMemory.set(name, shown);
  }
  const builtIn = [...(kind.builtIn?.(space).values() ?? [])].map((object) => kind.show?.(space, object) ?? object);
  const names = kind.maySee
    ? { name: { $in: seen.map(([name]) => name).filter((name) => !fromMemory.has(name)) } }
    : fromMemory.size > 0 && { name: { $nin: [...fromMemory.keys()] } };
  const stored: Document[] = [{ $match: { kind: kind.name, ...names } }, { $replaceRoot: { newRoot: '$object' } }];
  const others = fromMemory.size > 0 ? [given([...fromMemory.values()])] : [];
  if (builtIn.length === 0) return [...stored, ...others];
  return [NONE, given(builtIn), { $unionWith: { coll: DEFINITIONS, pipeline: stored } }, ...others];
}

/** Whether a representation only leaves out members of what is stored: most definitions need not be sent to the store. */
const isAsStored = (shown: ObjectValue, stored: ObjectValue): boolean =>
  shown === stored || Object.keys(shown).every((name) => Object.hasOwn(stored, name) && shown[name] === stored[name]);

function given(rows: readonly ObjectValue[]): Document {
  const documents = rows.map((row) => toBson(row) as Document);
  if (documents.reduce((sum, one) => sum + BSON.calculateObjectSize(one), 0) > MOST_GIVEN_BYTES)
    throw apiError('cascade.query.too.expensive', 'memory');
  // The rows are literals: a text may begin with a $.
  return { $unionWith: { pipeline: [{ $documents: { $literal: documents } }] } };
}
