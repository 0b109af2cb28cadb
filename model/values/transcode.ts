// Stored bytes to JSON text in one loop, without objects in between: the way of every row of a SELECT, to a client or into the isolate.
// A transcoder remembers at which position it last met which property, so that a name costs a comparison of bytes, not a string.
import { decodeInner, isReference } from '../../stdlib/values/index.ts';
import { type InPieces, type PropertyDefinition, SYSTEM_PROPERTIES, type TypeDefinition, cipherOf } from '../types/index.ts';
import { asBytes, type Bytes, KIND, nameEnd, sizeOf, stringAt } from './bson-bytes.ts';
import { decimal128Text } from './decimal128.ts';
import { binaryAt, currencyOfText, fromBson } from './from-bson.ts';
import { isDivisibleAt, spellBytesInPieces } from './from-bson-pieces.ts';
import { escapeKey } from './keys.ts';
import { jsonName, type Spell, type Spelling, type Spellings, spellings } from './spelling.ts';
import { propertyToJson, referenceText, topLevel } from './to-json.ts';
import { wholeText } from './whole-text.ts';

export type { Spelling } from './spelling.ts';

export interface TranscodeOptions {
  /** The properties to keep besides `_id`, paths into them included; none or an empty list means all. */
  props?: readonly string[];
}

/** One element of a document: its name, how it reads in JSON, and the way of its value; a left out one has none. */
interface Slot {
  readonly name: Bytes;
  readonly json: string;
  readonly spell: Spell | null;
}

export interface Transcoder {
  (raw: Uint8Array): string;
  /** The same for a long document. */
  inPieces(raw: Uint8Array): InPieces<string>;
}

const kept: Readonly<Record<Spelling, WeakMap<TypeDefinition, Transcoder>>> = { rest: new WeakMap(), inner: new WeakMap() };

/** The transcoder for whole instances of a type: made once, since every request for one needs it. */
export function wholeTranscoder(type: TypeDefinition, spelling: Spelling): Transcoder {
  let known = kept[spelling].get(type);
  if (!known) kept[spelling].set(type, (known = transcoder(type, spelling)));
  return known;
}

/** One document; for many of one type keep a `transcoder`. */
export const transcode = (raw: Uint8Array, type: TypeDefinition | null, spelling: Spelling, props?: readonly string[]): string =>
  transcoder(type, spelling, props === undefined ? {} : { props })(raw);

/** @param type null for documents without one: every element is kept, `props` has no effect */
export function transcoder(type: TypeDefinition | null, spelling: Spelling, options: TranscodeOptions = {}): Transcoder {
  const spells = spellings(spelling);
  const known = type && knownSlots(type, spelling, spells, options);
  const slots: Slot[] = []; // by position in the last document

  const slotAt = (bytes: Bytes, start: number): Slot => {
    const end = nameEnd(bytes, start);
    const name = bytes.utf8Slice(start, end);
    return (
      known?.get(name) ?? {
        name: Buffer.from(bytes.subarray(start, end)) as Bytes,
        json: jsonName(name),
        spell: known ? null : spells.value,
      }
    );
  };

  const whole = (raw: Uint8Array): string => {
    const bytes = asBytes(raw);
    let out = '';
    let at = 4;
    for (let position = 0; bytes[at] !== 0; position++) {
      const kind = bytes[at] as number;
      let slot = slots[position];
      if (slot === undefined || !isNamed(bytes, at + 1, slot.name)) slot = slots[position] = slotAt(bytes, at + 1);
      at += slot.name.length + 2;
      if (slot.spell !== null) out += `${out === '' ? '{' : ','}${slot.json}${slot.spell(kind, bytes, at)}`;
      at += sizeOf(kind, bytes, at);
    }
    return out === '' ? '{}' : wholeText(`${out}}`);
  };

  function* inPieces(raw: Uint8Array): InPieces<string> {
    const bytes = asBytes(raw);
    let out = '';
    for (let at = 4; bytes[at] !== 0; ) {
      const kind = bytes[at] as number;
      const { name, json, spell } = slotAt(bytes, at + 1);
      at += name.length + 2;
      if (spell !== null) {
        const text = isDivisibleAt(kind, bytes, at) ? yield* spellBytesInPieces(spell, kind, bytes, at) : spell(kind, bytes, at);
        out += `${out === '' ? '{' : ','}${json}${text}`;
      }
      at += sizeOf(kind, bytes, at);
    }
    return out === '' ? '{}' : wholeText(`${out}}`);
  }
  return Object.assign(whole, { inPieces });
}

function isNamed(bytes: Bytes, at: number, name: Bytes): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return bytes[at + name.length] === 0;
}

function knownSlots(type: TypeDefinition, spelling: Spelling, spells: Spellings, { props }: TranscodeOptions): Map<string, Slot> {
  const kept = props && props.length > 0 ? new Set(['_id', ...props.map(topLevel)]) : null;
  const slots = new Map<string, Slot>();
  const add = (name: string, spell: Spell): void => {
    slots.set(name, { name: Buffer.from(name) as Bytes, json: jsonName(name), spell: kept === null || kept.has(name) ? spell : null });
  };
  add('_id', spells.value);
  for (const [name, base] of Object.entries(SYSTEM_PROPERTIES)) add(name, spellProperty({ base }, spelling, spells));
  for (const property of type.properties.values()) {
    const spell = spellProperty(property, spelling, spells);
    add(property.name, property.encrypted ? spellEncrypted(type, property, spelling, spell) : spell);
  }
  return slots;
}

type Spelled = Pick<PropertyDefinition, 'base' | 'scale' | 'structure'>;

function spellProperty(property: Spelled, spelling: Spelling, spells: Spellings): Spell {
  const { base, scale, structure } = property;
  const { value, bare } = spells;
  if (structure) return spellStructured(structure, spelling, spells);
  const one = ((): Spell => {
    if (base === 'Decimal')
      return (kind, bytes, at) => (kind === KIND.decimal128 ? spellDecimal(bytes, at, scale, spelling) : value(kind, bytes, at));
    if (base === 'Currency')
      return (kind, bytes, at) => (kind === KIND.document ? spellCurrency(bytes, at, scale, spelling) : value(kind, bytes, at));
    if (base === 'ResourceReference' && spelling === 'rest')
      return (kind, bytes, at) => (kind === KIND.document ? spellReference(bytes, at) : value(kind, bytes, at));
    return base === 'Real' || base === 'GeoJSON' ? bare : value;
  })();
  if (one === value || one === bare) return one;
  return (kind, bytes, at) => (kind === KIND.array ? spellArray(bytes, at, one) : one(kind, bytes, at));
}

/**
 * Objects with another type's properties, which are looked up for each: that type may have changed. Values in them are those of any Object,
 * but a reference reads as one outside, and the text of a Currency is one inside.
 */
function spellStructured(structure: () => TypeDefinition | undefined, spelling: Spelling, spells: Spellings): Spell {
  const known = new WeakMap<TypeDefinition, Map<string, Spell>>();
  const typedMembers = (): ReadonlyMap<string, Spell> | undefined => {
    const members = structure();
    let typed = members && known.get(members);
    if (members && !typed) known.set(members, (typed = memberSpells(members, spelling, spells)));
    return typed;
  };
  const spell: Spell = Object.assign(
    (kind: number, bytes: Bytes, at: number): string => {
      if (kind === KIND.array) return spellArray(bytes, at, spell);
      const typed = kind === KIND.document ? typedMembers() : undefined;
      return typed ? spellMembers(bytes, at, typed, spells.value) : spells.value(kind, bytes, at);
    },
    {
      members: () => {
        const typed = typedMembers();
        return (stored: string): Spell => typed?.get(stored) ?? spells.value;
      },
    },
  );
  return spell;
}

function spellMembers(bytes: Bytes, start: number, typed: ReadonlyMap<string, Spell>, untyped: Spell): string {
  let out = '';
  let at = start + 4;
  while (bytes[at] !== 0) {
    const kind = bytes[at] as number;
    const end = nameEnd(bytes, at + 1);
    const name = bytes.utf8Slice(at + 1, end);
    out += `${out === '' ? '' : ','}${jsonName(name)}${(typed.get(name) ?? untyped)(kind, bytes, end + 1)}`;
    at = end + 1 + sizeOf(kind, bytes, end + 1);
  }
  return `{${out}}`;
}

/** By their stored names, those of the members that do not read as in any Object. */
function memberSpells(members: TypeDefinition, spelling: Spelling, spells: Spellings): Map<string, Spell> {
  const typed = new Map<string, Spell>();
  for (const property of members.properties.values()) {
    const one = memberSpell(property, spelling, spells);
    if (one) typed.set(escapeKey(property.name), one);
  }
  return typed;
}

function memberSpell({ base, scale, structure }: Spelled, spelling: Spelling, spells: Spellings): Spell | null {
  if (structure) return spellStructured(structure, spelling, spells);
  const { value } = spells;
  const one = ((): Spell | null => {
    if (base === 'Decimal')
      return (kind, bytes, at) => (kind === KIND.decimal128 ? spellDecimal(bytes, at, scale, spelling) : value(kind, bytes, at));
    if (base === 'Currency')
      return (kind, bytes, at) => {
        const currency = kind === KIND.string ? currencyOfText(stringAt(bytes, at), scale) : null;
        return currency ? quoted(currency.toString(), 'c', spelling) : value(kind, bytes, at);
      };
    if (base === 'ResourceReference' && spelling === 'rest')
      return (kind, bytes, at) => (kind === KIND.document ? spellAnyReference(bytes, at) : null) ?? value(kind, bytes, at);
    return null;
  })();
  return one && ((kind, bytes, at) => (kind === KIND.array ? spellArray(bytes, at, one) : one(kind, bytes, at)));
}

/** A reference with its members in any order; null for another document. */
function spellAnyReference(bytes: Bytes, at: number): string | null {
  const reference = fromBson(bytes.subarray(at, at + sizeOf(KIND.document, bytes, at)));
  return isReference(reference) ? JSON.stringify(referenceText(reference.resource, reference.resourceId)) : null;
}

function spellEncrypted(type: TypeDefinition, property: PropertyDefinition, spelling: Spelling, clear: Spell): Spell {
  return (kind, bytes, at) => {
    if (kind !== KIND.binary) return clear(kind, bytes, at);
    const inner = cipherOf(type, property.name).open(binaryAt(bytes, at), property.name);
    return spelling === 'inner' ? inner : propertyToJson(property, decodeInner(inner));
  };
}

const quoted = (text: string | null, mark: string, spelling: Spelling): string =>
  text === null ? 'null' : spelling === 'rest' ? `"${text}"` : `"\\u0001${mark}${text}"`;

const spellDecimal = (bytes: Bytes, at: number, scale: number | undefined, spelling: Spelling): string =>
  quoted(decimal128Text(bytes, at, scale), 'd', spelling);

/** `{c: 'USD', v: Decimal128}`: as it is always written, in that order. */
function spellCurrency(bytes: Bytes, at: number, scale: number | undefined, spelling: Spelling): string {
  const code = stringAt(bytes, at + 7);
  const amount = decimal128Text(bytes, at + 11 + bytes.readInt32LE(at + 7) + 3, scale);
  return quoted(amount && `${code}:${amount}`, 'c', spelling);
}

/** `{resource, resourceId}`, both text, and in that order unless a former version has written it. */
function spellReference(bytes: Bytes, at: number): string {
  const resourceAt = at + 4 + 1 + 'resource'.length + 1;
  if (bytes[resourceAt - 1] !== 0) return spellAnyReference(bytes, at) ?? 'null';
  const idAt = resourceAt + sizeOf(KIND.string, bytes, resourceAt) + 1 + 'resourceId'.length + 1;
  return JSON.stringify(referenceText(stringAt(bytes, resourceAt), stringAt(bytes, idAt)));
}

function spellArray(bytes: Bytes, start: number, one: Spell): string {
  let out = '';
  let at = start + 4;
  while (bytes[at] !== 0) {
    const kind = bytes[at] as number;
    at = nameEnd(bytes, at + 1) + 1;
    out += `${out === '' ? '' : ','}${one(kind, bytes, at)}`;
    at += sizeOf(kind, bytes, at);
  }
  return `[${out}]`;
}
