// Messages and their forms as the service sends them (docs/forms.md). What a field has of the wrong type is read as if it were not there:
// the service checks forms when they are sent, but a message may be older than a check, or be made by hand.

/** Integers that a double does not hold are bigints (json.ts). */
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export interface Place {
  readonly longitude: number;
  readonly latitude: number;
}

/** A message whose answer is awaited. */
export interface Message {
  readonly messageId: string;
  readonly title: string;
  readonly category: string;
  readonly payload: JsonObject;
  /** ISO 8601; '' where it is not known. */
  readonly createdAt: string;
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null;
}

/** A field as it was sent, with a type that is known here. */
export interface Field {
  readonly type: FieldType;
  /** '' where it has none. */
  readonly id: string;
  /** Names what is drawn, whether the field has an id or not. */
  readonly key: string;
  readonly source: JsonObject;
}

export const FIELD_TYPES = [
  ...(['audio', 'barcode', 'buttonCluster', 'camera', 'checkbox', 'currentDateTime', 'currentLocation', 'dashboard'] as const),
  ...(['date', 'datetime', 'document', 'droplist', 'footerButton', 'image', 'inlineButton', 'inputInteger', 'inputReal'] as const),
  ...(['inputString', 'map', 'markupImage', 'radioButtons', 'sectionLabel', 'text', 'video'] as const),
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** What a person has entered, by field id. A field that was not touched has no member; one that was cleared has null. */
export type Entered = { readonly [id: string]: Json };

export interface Choice {
  readonly label: string;
  readonly value: string | number | bigint;
}

export interface Button {
  /** '' for the one that a form without buttons has. */
  readonly label: string;
  readonly value: number | bigint;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (source: JsonObject, name: string, fallback = ''): string => {
  const value = own(source, name);
  return typeof value === 'string' ? value : fallback;
};

export const isNumber = (value: Json | undefined): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value));

/** With all its digits. */
export const exactOf = (source: JsonObject, name: string, fallback: number): number | bigint => {
  const value = own(source, name);
  return isNumber(value) ? value : fallback;
};

export const numberOf = (source: JsonObject, name: string, fallback: number): number => Number(exactOf(source, name, fallback));

/** Names come from a payload: `constructor` is nothing. */
export const own = (source: JsonObject, name: string): Json => (Object.hasOwn(source, name) ? (source[name] ?? null) : null);
