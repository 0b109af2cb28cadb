// Long stored values in pieces: as from-bson.ts and transcode.ts read them, some thousand bytes at a time.
import { type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { InPieces, TypeDefinition } from '../types/index.ts';
import { asBytes, type Bytes, KIND, nameEnd, sizeOf } from './bson-bytes.ts';
import { memberOfObject, propertyAt, type Stored, structuredAt, takeMember, valueAt } from './from-bson.ts';
import { unescapeKey } from './keys.ts';
import { jsonName, type Spell } from './spelling.ts';
import { wholeText } from './whole-text.ts';

/** Read at once. */
const PIECE_BYTES = 4 * 1024;
/** From here on a document is read in pieces: what is shorter takes about a millisecond. */
const LONG_BYTES = 64 * 1024;

export const isLongBson = (raw: Uint8Array): boolean => raw.byteLength >= LONG_BYTES;

/** The instance in a stored document, as `instanceFromBson` gives it. */
export function* instanceFromBsonInPieces(type: TypeDefinition, raw: Uint8Array): InPieces<ObjectValue> {
  const bytes = asBytes(raw);
  const instance: ObjectValue = {};
  let at = 4;
  for (let kind = bytes[at] as number; kind !== 0; kind = bytes[at] as number) {
    const end = nameEnd(bytes, at + 1);
    const name = bytes.utf8Slice(at + 1, end);
    at = end + 1;
    const property = isDivisibleAt(kind, bytes, at) ? type.properties.get(name) : undefined;
    if (property) instance[name] = yield* propertyInPieces(property, kind, bytes, at);
    else takeMember(type, instance, name, kind, bytes, at);
    at += sizeOf(kind, bytes, at);
  }
  return instance;
}

/** A document without a type, as `fromBson` gives it. */
export function* fromBsonInPieces(raw: Uint8Array): InPieces<ObjectValue> {
  return (yield* valueInPieces(KIND.document, asBytes(raw), 0)) as ObjectValue;
}

/** Of a stored document only what says which version of which instance it is. */
export function instanceHead(raw: Uint8Array): ObjectValue {
  const bytes = asBytes(raw);
  const head: ObjectValue = {};
  let at = 4;
  for (let kind = bytes[at] as number; kind !== 0; kind = bytes[at] as number) {
    const end = nameEnd(bytes, at + 1);
    const name = bytes.utf8Slice(at + 1, end);
    at = end + 1;
    if (name === '_id' || name === 'ars_version') head[name] = valueAt(kind, bytes, at);
    at += sizeOf(kind, bytes, at);
  }
  return head;
}

export const isDivisibleAt = (kind: number, bytes: Bytes, at: number): boolean =>
  (kind === KIND.array || kind === KIND.document) && bytes.readInt32LE(at) > PIECE_BYTES;

function* propertyInPieces(property: Stored, kind: number, bytes: Bytes, at: number): InPieces<Value> {
  const structure = property.structure?.();
  if (structure) return yield* structuredInPieces(structure, kind, bytes, at);
  if (property.base === 'Object') return yield* valueInPieces(kind, bytes, at);
  if (kind !== KIND.array) return propertyAt(property, kind, bytes, at);
  const items: Value[] = [];
  yield* eachInPieces(bytes, at, function* (_, itemKind, itemAt) {
    items.push(propertyAt(property, itemKind, bytes, itemAt));
  });
  return items;
}

function* structuredInPieces(structure: TypeDefinition, kind: number, bytes: Bytes, at: number): InPieces<Value> {
  if (!isDivisibleAt(kind, bytes, at)) return structuredAt(structure, kind, bytes, at);
  if (kind === KIND.array) {
    const items: Value[] = [];
    yield* eachInPieces(bytes, at, function* (_, itemKind, itemAt) {
      items.push(yield* structuredInPieces(structure, itemKind, bytes, itemAt));
    });
    return items;
  }
  const object: ObjectValue = {};
  yield* eachInPieces(bytes, at, function* (nameAt, memberKind, memberAt) {
    const name = unescapeKey(bytes.utf8Slice(nameAt, memberAt - 1));
    const declared = structure.properties.get(name);
    setOwn(
      object,
      name,
      yield* declared ? memberInPieces(declared, memberKind, bytes, memberAt) : valueInPieces(memberKind, bytes, memberAt),
    );
  });
  return object;
}

function* memberInPieces(property: Stored, kind: number, bytes: Bytes, at: number): InPieces<Value> {
  if (!isDivisibleAt(kind, bytes, at)) return memberOfObject(property, kind, bytes, at);
  const structure = property.structure?.();
  if (structure) return yield* structuredInPieces(structure, kind, bytes, at);
  if (kind !== KIND.array || property.base === 'Object') return yield* valueInPieces(kind, bytes, at);
  const items: Value[] = [];
  yield* eachInPieces(bytes, at, function* (_, itemKind, itemAt) {
    items.push(memberOfObject(property, itemKind, bytes, itemAt));
  });
  return items;
}

function* valueInPieces(kind: number, bytes: Bytes, at: number): InPieces<Value> {
  if (!isDivisibleAt(kind, bytes, at)) return valueAt(kind, bytes, at);
  if (kind === KIND.array) {
    const items: Value[] = [];
    yield* eachInPieces(bytes, at, function* (_, itemKind, itemAt) {
      items.push(isDivisibleAt(itemKind, bytes, itemAt) ? yield* valueInPieces(itemKind, bytes, itemAt) : valueAt(itemKind, bytes, itemAt));
    });
    return items;
  }
  const object: ObjectValue = {};
  yield* eachInPieces(bytes, at, function* (nameAt, itemKind, itemAt) {
    const name = unescapeKey(bytes.utf8Slice(nameAt, itemAt - 1));
    setOwn(
      object,
      name,
      isDivisibleAt(itemKind, bytes, itemAt) ? yield* valueInPieces(itemKind, bytes, itemAt) : valueAt(itemKind, bytes, itemAt),
    );
  });
  return object;
}

/** The JSON text of a long value. @param spell of its elements, too */
export function* spellBytesInPieces(spell: Spell, kind: number, bytes: Bytes, at: number): InPieces<string> {
  const isArray = kind === KIND.array;
  const member = isArray ? undefined : spell.members?.();
  if (!isDivisibleAt(kind, bytes, at) || !(isArray || member)) return spell(kind, bytes, at);
  let text = '';
  let piece = '';
  yield* eachInPieces(
    bytes,
    at,
    function* (nameAt, itemKind, itemAt) {
      if (nameAt !== at + 5) piece += ',';
      const name = member && bytes.utf8Slice(nameAt, itemAt - 1);
      if (name !== undefined) piece += jsonName(name);
      const own = name === undefined ? spell : (member?.(name) ?? spell);
      piece += isDivisibleAt(itemKind, bytes, itemAt)
        ? yield* spellBytesInPieces(own, itemKind, bytes, itemAt)
        : own(itemKind, bytes, itemAt);
    },
    () => {
      text += wholeText(piece);
      piece = '';
    },
  );
  return isArray ? `[${text}${piece}]` : `{${text}${piece}}`;
}

/** @param take is given the places of an element's name and value; @param rest called before each pause */
function* eachInPieces(
  bytes: Bytes,
  start: number,
  take: (nameAt: number, kind: number, at: number) => InPieces<void>,
  rest?: () => void,
): InPieces<void> {
  let at = start + 4;
  let pause = at + PIECE_BYTES;
  for (let kind = bytes[at] as number; kind !== 0; kind = bytes[at] as number) {
    const nameAt = at + 1;
    at = nameEnd(bytes, nameAt) + 1;
    yield* take(nameAt, kind, at);
    at += sizeOf(kind, bytes, at);
    if (at < pause) continue;
    rest?.();
    yield;
    pause = at + PIECE_BYTES;
  }
}
