// Long instances: each step that takes long is done in slices, between which others have their turn. What is short takes the usual way, at once.
// Values are not changed while they are worked on: who needs another one makes it.
import type { Document } from 'mongodb';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';
import { type InPieces, isLong, prepareUpdate, prepareUpdateInPieces, type TypeDefinition } from '../../model/types/index.ts';
import {
  decodeInnerInPieces,
  encodeInnerInPieces,
  instanceFromBson,
  instanceFromBsonInPieces,
  instanceToBsonInPieces,
  isLongBson,
} from '../../model/values/index.ts';

/** Whose work it is. */
interface Owner {
  readonly name: string;
}

/** From here on a statement of a program is read in slices. */
export const LONG_TEXT = 64 * 1024;

/** Texts of long values that were made a moment ago: an event, a run's history and the answer want the same. */
const texts = new WeakMap<object, string>();

/** The inner JSON of a value. */
export const innerText = ({ name }: Owner, value: Value): MaybePromise<string> =>
  isLong(value) ? (texts.get(value as object) ?? finishInSlices(name, innerTextInPieces(value))) : encodeInner(value);

function* innerTextInPieces(value: Value): InPieces<string> {
  const known = texts.get(value as object);
  if (known !== undefined) return known;
  const text = yield* encodeInnerInPieces(value);
  texts.set(value as object, text);
  return text;
}

/** The value of an inner JSON text. */
export const innerValue = ({ name }: Owner, json: string): MaybePromise<Value> =>
  json.length < LONG_TEXT ? decodeInner(json) : finishInSlices(name, decodeInnerInPieces(json));

/** The instance in a stored document. */
export const instanceIn = ({ name }: Owner, type: TypeDefinition, raw: Uint8Array): MaybePromise<ObjectValue> =>
  isLongBson(raw) ? finishInSlices(name, instanceFromBsonInPieces(type, raw)) : instanceFromBson(type, raw);

/** The instance after an UPDATE by that body. */
export const updated = ({ name }: Owner, type: TypeDefinition, stored: ObjectValue, body: Value): MaybePromise<ObjectValue> =>
  isLong(body) ? finishInSlices(name, prepareUpdateInPieces(type, stored, body)) : prepareUpdate(type, stored, body);

/** What the unit of a long instance is made of. */
export interface LongParts {
  readonly json: string;
  readonly document: Document;
}

/** Null for a short one, whose unit makes them itself. @param shown its external form */
export const longParts = ({ name }: Owner, type: TypeDefinition, stamped: ObjectValue, shown: ObjectValue): Promise<LongParts> | null =>
  isLong(stamped) ? finishInSlices(name, partsInPieces(type, stamped, shown)) : null;

export function* partsInPieces(type: TypeDefinition, stamped: ObjectValue, shown: ObjectValue): InPieces<LongParts> {
  return { json: yield* innerTextInPieces(shown), document: yield* instanceToBsonInPieces(type, stamped) };
}
