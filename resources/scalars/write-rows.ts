// Writes stored rows as text, for a client or a program: transcoded byte by byte, or, where scalars have another external form, converted
// by their procedures, all rows of a call at once.

import { decodeInner, encodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { InPieces, TypeDefinition } from '../../model/types/index.ts';
import {
  decodeInnerInPieces,
  encodeInnerInPieces,
  instanceFromBson,
  instanceFromBsonInPieces,
  instanceToJson,
  isLongBson,
  type Spelling,
  toTypedJson,
  toTypedJsonInPieces,
  transcoder,
  wholeTranscoder,
} from '../../model/values/index.ts';
import { finishInSlices, resultsOf } from '../../platform/structures/index.ts';
import { projected } from '../representation/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { isShownOtherwise, toShown } from './convert.ts';

export type WriteRows = (rows: readonly Uint8Array[]) => string[] | Promise<string[]>;

/** The form of rows. `typed`: for another installation, plain JSON in which values keep their types (integrations.md 11.3). */
export type RowForm = Spelling | 'typed';

/** @param props the properties to keep, including paths into them; null: all */
export function writeRows(space: Namespace, type: TypeDefinition, form: RowForm, props: readonly string[] | null, actor: Actor): WriteRows {
  if (form !== 'typed') return writeSpelt(space, type, form, props, actor);
  const write = writeSpelt(space, type, 'inner', props, actor);
  return async (rows) => finishInSlices(resultsOf(space.name), typedTexts(await write(rows)));
}

/** Writes rows for a program. `partOf`: its user, where that sees a part of each instance only. */
export function writeSeenRows(
  space: Namespace,
  { type, seen }: InstanceResource,
  { props, partOf }: { readonly props: readonly string[] | null; readonly partOf?: string | undefined },
  actor: Actor,
): WriteRows {
  const write = writeSpelt(space, type, 'inner', props, actor);
  if (!seen || partOf === undefined) return write;
  const cut = (row: string): string => encodeInner(seen.instance(decodeInner(row) as ObjectValue, partOf));
  return async (rows) => (await write(rows)).map(cut);
}

/** A longer row is worked on in pieces. */
const SHORT_CHARACTERS = 16_384;

function* typedTexts(inner: readonly string[]): InPieces<string[]> {
  const texts: string[] = [];
  for (const text of inner) {
    const isShort = text.length <= SHORT_CHARACTERS;
    texts.push(isShort ? toTypedJson(decodeInner(text)) : yield* toTypedJsonInPieces(yield* decodeInnerInPieces(text)));
    yield;
  }
  return texts;
}

function writeSpelt(space: Namespace, type: TypeDefinition, spelling: Spelling, props: readonly string[] | null, actor: Actor): WriteRows {
  // For REST the store projects parts of an Object already; a program's rows come whole, since its read set remembers them.
  const cuts = props !== null && spelling === 'inner' && props.some((path) => path.includes('.'));
  if (cuts && !isShownOtherwise(type))
    return (rows) =>
      ofEach(
        space,
        rows,
        (row) => encodeInner(projected(instanceFromBson(type, row), props)),
        function* (row) {
          return yield* encodeInnerInPieces(projected(yield* instanceFromBsonInPieces(type, row), props));
        },
      );
  if (!isShownOtherwise(type)) {
    const write = props ? transcoder(type, spelling, { props }) : wholeTranscoder(type, spelling);
    return (rows) => ofEach(space, rows, write, write.inPieces);
  }
  return async (rows) => {
    const shown = await toShown(
      space,
      type,
      rows.map((row) => instanceFromBson(type, row)),
      actor,
    );
    return shown.map((instance) =>
      spelling === 'rest'
        ? instanceToJson(type, instance, props ?? undefined)
        : encodeInner(props && props.length > 0 ? projected(instance, props) : instance),
    );
  };
}

/** Bound up to which rows are written without a pause, which takes a few milliseconds. */
const FEW_BYTES = 32 * 1024;

/**
 * What is made of each row, at once where they are few bytes, else in slices.
 * @param inPieces the same as `make` for a long row
 */
export function ofEach<T>(
  space: Namespace,
  rows: readonly Uint8Array[],
  make: (row: Uint8Array, index: number) => T,
  inPieces: (row: Uint8Array, index: number) => InPieces<T>,
): T[] | Promise<T[]> {
  let bytes = 0;
  for (const row of rows) bytes += row.byteLength;
  return bytes <= FEW_BYTES ? rows.map(make) : ofMany(space, rows, bytes, make, inPieces);
}

/** Large results queue for a turn, since many may be written at once; no more is read meanwhile than is written. */
async function ofMany<T>(
  { name, storage }: Namespace,
  rows: readonly Uint8Array[],
  bytes: number,
  make: (row: Uint8Array, index: number) => T,
  inPieces: (row: Uint8Array, index: number) => InPieces<T>,
): Promise<T[]> {
  function* each(): InPieces<T[]> {
    const all: T[] = [];
    for (const [index, row] of rows.entries()) {
      all.push(isLongBson(row) ? yield* inPieces(row, index) : make(row, index));
      yield;
    }
    return all;
  }
  using _held = storage.rows.hold(bytes);
  return await finishInSlices(resultsOf(name), each());
}
