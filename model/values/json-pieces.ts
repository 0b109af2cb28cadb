// Texts of long values and values of long texts, in pieces: the JSON of clients and the inner one.
import {
  encodeInner,
  fromInner,
  isPlainInner,
  type JsonBounds,
  type JsonReader,
  type ObjectValue,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import { type InPieces, isDivisible, runsOf, type Speller, spellInPieces, type TypeDefinition } from '../types/index.ts';
import { exactReader } from './exact-json.ts';
import { propertyToJson, toJson, typedMember, writersOf, type Written } from './to-json.ts';
import { wholeText } from './whole-text.ts';

/** The text of a long instance as `instanceToJson` makes it. */
export function* instanceToJsonInPieces(type: TypeDefinition, instance: ObjectValue): InPieces<string> {
  let json = '';
  for (const { name, label, property } of writersOf(type)) {
    const value = Object.hasOwn(instance, name) ? instance[name] : undefined;
    if (value === undefined) continue;
    const text = yield* propertyToJsonInPieces(property, value);
    json += json === '' ? label + text : `,${label}${text}`;
  }
  return wholeText(`{${json}}`);
}

/** The text of a value as `propertyToJson` makes it. */
export function* propertyToJsonInPieces(property: Written, value: Value): InPieces<string> {
  return yield* spellInPieces(value, spellerOf(property));
}

function spellerOf(property: Written): Speller {
  const spell = (value: Value): string => propertyToJson(property, value);
  const structure = property.structure?.();
  if (!structure) return spell;
  const member = (name: string): Speller => {
    const typed = typedMember(structure, name);
    return typed ? spellerOf(typed) : toJson;
  };
  return Object.assign(spell, { member });
}

/** The text of a long value as `toJson` makes it. */
export function* toJsonInPieces(value: Value): InPieces<string> {
  return wholeText(yield* spellInPieces(value, toJson));
}

/** The inner JSON of a long value. */
export function* encodeInnerInPieces(value: Value): InPieces<string> {
  return wholeText(yield* spellInPieces(value, encodeInner));
}

/** The value of a long inner JSON text: JSON.parse would not give way. */
export function* decodeInnerInPieces(json: string): InPieces<Value> {
  const parsed = yield* parseJsonInPieces(json);
  return isPlainInner(json) ? parsed : yield* fromInnerInPieces(parsed);
}

/** As parseJson, of a long text that is known to be JSON, however deep it is. */
export const parseJsonInPieces = (json: string): InPieces<Value> =>
  readInPieces(exactReader(json, UNBOUNDED, { onLoneSurrogate: () => undefined }));

/** As parseJson, of a long text of strangers. @throws JsonProblem */
export const parseForeignJsonInPieces = (json: string, bounds: JsonBounds): InPieces<Value> => readInPieces(exactReader(json, bounds));

function* readInPieces(reader: JsonReader): InPieces<Value> {
  while (!reader.read(PIECE_CHARACTERS)) yield;
  return reader.value;
}

const PIECE_CHARACTERS = 2_048;
const UNBOUNDED = { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY };

function* fromInnerInPieces(parsed: Value): InPieces<Value> {
  if (!isDivisible(parsed)) return fromInner(parsed);
  const names = Array.isArray(parsed) ? null : Object.keys(parsed);
  const place = (index: number): string => (names ? (names[index] as string) : String(index));
  const members = parsed as ObjectValue;
  for (const run of runsOf(names ? names.length : (parsed as Value[]).length, (index) => members[place(index)])) {
    for (let index = run.from; index < run.to; index++) {
      const member = members[place(index)] as Value;
      setOwn(members, place(index), run.isDivisible ? yield* fromInnerInPieces(member) : fromInner(member));
    }
    yield;
  }
  return parsed;
}
