// Translates the store's refusals of instances to errors of the API.

import { BSON, type Document } from 'mongodb';
import type { CascadeError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import { DocumentRefused, DuplicateKey, type QueueFull } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { mongoIndexes, type TypeDefinition } from '../../model/types/index.ts';
import { StoredBytes } from '../../model/values/index.ts';
import type { InstanceResource } from '../catalog/index.ts';

const MOST_BYTES = 15 * 1024 * 1024;
/**
 * Bound below which an instance's text cannot make a document that is too large: BSON takes at most 4 bytes more for a value of one
 * character.
 */
const UNSUSPICIOUS_CHARACTERS = 2 * 1024 * 1024;

/** @param json the instance as text: a short one need not be measured. @throws cascade.resource.too.large */
export function checkSize(json: string, document: Document): void {
  if (json.length > UNSUSPICIOUS_CHARACTERS) sizeOf(document);
}

/** The size of a document in BSON, in bytes. @throws cascade.resource.too.large */
export function sizeOf(document: Document): number {
  const short: Document = {};
  let bytes = 0;
  for (const name of Object.keys(document)) {
    const value: unknown = document[name];
    if (value instanceof StoredBytes) bytes += 2 + Buffer.byteLength(name) + value.bytes.length;
    else short[name] = value;
  }
  bytes += BSON.calculateObjectSize(short);
  if (bytes > MOST_BYTES) throw apiError('cascade.resource.too.large', MOST_BYTES);
  return bytes;
}

/** Bound of the size of a value that is not a text, with its kind; the name of a member takes the bytes of its characters. */
const PLAIN_VALUE_BYTES = 64;
const CHARACTER_BYTES = 3;
const UNSUSPICIOUS_BYTES = 2 * 1024 * 1024;

/**
 * An upper bound of the instance's size in BSON, found by a look at its values and far below the store's limit; undefined where the look
 * does not suffice.
 */
export function sizeWithin(instance: ObjectValue): number | undefined {
  const bytes = within(instance, 0);
  return bytes < UNSUSPICIOUS_BYTES ? bytes : undefined;
}

/** @param before the size counted so far; counting ends at the bound */
function within(value: Value | undefined, before: number): number {
  let bytes = before + PLAIN_VALUE_BYTES;
  if (typeof value === 'string') return bytes + CHARACTER_BYTES * value.length;
  if (typeof value !== 'object' || value === null || bytes >= UNSUSPICIOUS_BYTES) return bytes;
  if (Array.isArray(value)) for (const element of value) bytes = within(element, bytes);
  else if (isObject(value)) for (const name in value) bytes = within(value[name], bytes + CHARACTER_BYTES * name.length);
  return bytes;
}

/** A refusal of the store as an error of the API; other errors unchanged. */
export function asApiError(error: unknown, resource: InstanceResource, instance: ObjectValue): unknown {
  if (error instanceof DuplicateKey) return duplicateKey(error, resource, instance);
  if (!(error instanceof DocumentRefused)) return error;
  const property = refusedProperty(resource.type, instance);
  return apiError('cascade.type.property.invalid', resource.name, property?.name ?? '', property?.type ?? 'Object', 'index');
}

/** The error for a full queue: the client retries later. */
export const tooFull = ({ quota, limit }: QueueFull): CascadeError => apiError('cascade.quota.exceeded', quota, limit);

function duplicateKey(error: DuplicateKey, resource: InstanceResource, instance: ObjectValue) {
  const described = pathsOf(error, resource.type).map((path) => `${path}=${textOf(valueAt(instance, path))}`);
  return apiError('cascade.resource.duplicate.key', resource.name, [...new Set(described)].join(', '));
}

/** The error for a duplicate key, where it is unknown which of many instances has it. */
export const duplicateOf = (error: DuplicateKey, type: TypeDefinition): CascadeError =>
  apiError('cascade.resource.duplicate.key', type.name, [...new Set(pathsOf(error, type))].join(', '));

function pathsOf(error: DuplicateKey, type: TypeDefinition): string[] {
  const index = mongoIndexes(type).find((one) => one.name === error.index);
  const paths = index ? Object.keys(index.key) : [];
  return paths.map((path) => (path.endsWith('.c') || path.endsWith('.v') ? path.slice(0, -2) : path));
}

/**
 * The property that the store refused, which it does not name: a shape that crosses itself, else the first property in an index that is not
 * plain.
 */
function refusedProperty(type: TypeDefinition, instance: ObjectValue) {
  const indexed = mongoIndexes(type).flatMap(({ key }) => Object.entries(key));
  const names = [...indexed.filter(([, direction]) => direction === '2dsphere'), ...indexed].map(([path]) => path.split('.', 1)[0] ?? '');
  return names.map((name) => type.properties.get(name)).find((property) => property && getOwn(instance, property.name) !== null);
}

const textOf = (value: Value | undefined): string => (value === undefined ? 'null' : text(value));

function valueAt(instance: ObjectValue, path: string): Value | undefined {
  let value: Value | undefined = instance;
  for (const step of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = getOwn(value as ObjectValue, step);
  }
  return value;
}
