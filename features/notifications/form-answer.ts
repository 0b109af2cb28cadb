// Converts what a user entered in a form to the values that rules receive (integrations.md 8.4, steps 2 to 5). Pure, but for the look-up of
// documents.
import {
  formatDateTime,
  getOwn,
  isInteger,
  isNumber,
  isObject,
  numberOf,
  type ObjectValue,
  parseDateTime,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import { CascadeError, CascadeErrors, apiError } from '../../model/errors/index.ts';
import { exactOf, isSame } from './form-numbers.ts';

export interface Entered {
  /** The value of the button; null: none was named. */
  readonly submitValue: Value;
  readonly values: ObjectValue;
  /** The location of the device; null: unknown. */
  readonly location: Value;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the user may read a document of that name. */
  readonly hasDocument: (name: string) => Promise<boolean>;
}

export interface FormAnswer {
  readonly submitValue: Value;
  /** One for each field that produces a value, in the order of the fields. */
  readonly values: ObjectValue;
}

/** Converts an entered value to the one that rules receive; undefined: it does not fit the field. */
type Accept = (value: Value, field: ObjectValue) => Value | undefined;

const string: Accept = (value) => (typeof value === 'string' ? value : undefined);
const media = (kind: string, extension: string): Accept => {
  const name = new RegExp(`^rcs/${kind}/[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\.${extension}$`);
  return (value) => (typeof value === 'string' && name.test(value) ? value : undefined);
};
const choice: Accept = (value, field) => choicesOf(field).find((one) => isSame(one, value));
const number =
  (fits: (value: Value) => boolean): Accept =>
  (value) =>
    fits(value) ? value : undefined;
const within = (value: Value, most: number): boolean => isNumber(value) && Math.abs(numberOf(value)) <= most;

const place: Accept = (value) => {
  if (!isObject(value)) return undefined;
  const point = own(value, 'type') === 'Point' ? own(value, 'coordinates') : null;
  const [longitude = null, latitude = null] = Array.isArray(point) ? point : [own(value, 'longitude'), own(value, 'latitude')];
  return within(longitude, 180) && within(latitude, 90) ? { longitude, latitude } : undefined;
};
const time: Accept = (value) => {
  const parsed = typeof value === 'string' ? parseDateTime(value) : null;
  return parsed ? formatDateTime(parsed.ms) : undefined;
};
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const day: Accept = (value) => (typeof value === 'string' && DAY.test(value) && parseDateTime(value) ? value : undefined);

/** The types of fields that produce a value. */
const TYPES: Readonly<Record<string, Accept>> = {
  audio: media('audio', 'm4a'),
  barcode: string,
  camera: media('image', 'jpg'),
  checkbox: (value) => (typeof value === 'boolean' ? value : undefined),
  currentDateTime: time,
  currentLocation: place,
  date: day,
  datetime: time,
  droplist: choice,
  inputInteger: number(isInteger),
  inputReal: number(isNumber),
  inputString: string,
  map: place,
  markupImage: media('image', 'jpg'),
  radioButtons: choice,
  video: media('video', 'mp4'),
};
const MEDIA: ReadonlySet<string> = new Set(['audio', 'camera', 'markupImage', 'video']);
const NEVER_MISSING: ReadonlySet<string> = new Set(['checkbox', 'currentDateTime', 'currentLocation']);

/** The default of a field, where its type allows one: a recording has none, whatever the payload says. */
const presetOf = (type: string, field: ObjectValue): Value => (MEDIA.has(type) ? null : own(field, 'default'));

/**
 * @param payload a form that payload-form.ts has found valid
 * @throws CascadeError, CascadeErrors cascade.notification.submit.value; .value.invalid for each invalid value: [id, reason];
 * .required.missing: the ids, in the order of the fields
 */
export async function answerOf(payload: ObjectValue, entered: Entered): Promise<FormAnswer> {
  const fields = fieldsOf(payload);
  const submitValue = entered.submitValue ?? 0;
  if (!buttonsOf(fields).some((one) => isSame(one, submitValue))) throw apiError('cascade.notification.submit.value', submitValue);
  const values: ObjectValue = {};
  const faults: CascadeError[] = [];
  const missing: string[] = [];
  for (const field of fields) {
    const [type, id] = [String(own(field, 'type')), own(field, 'id')];
    if (!Object.hasOwn(TYPES, type) || typeof id !== 'string') continue;
    const { value, reason } = await valueOf(type, field, id, entered);
    if (reason) faults.push(apiError('cascade.notification.value.invalid', id, reason));
    else if (value === null && isMandatory(type, field)) missing.push(id);
    setOwn(values, id, value);
  }
  if (faults.length > 0) throw new CascadeErrors(faults);
  if (missing.length > 0) throw requiredMissing(missing);
  return { submitValue, values };
}

/** An error whose params are the ids, however many. */
function requiredMissing(ids: readonly string[]): CascadeError {
  const { code, message, status } = apiError('cascade.notification.required.missing', [...ids]);
  return new CascadeError(code, message, [...ids], status);
}

type Reason = 'type' | 'range' | 'length' | 'values' | 'document';
interface Taken {
  readonly value: Value;
  readonly reason?: Reason;
}

async function valueOf(type: string, field: ObjectValue, id: string, entered: Entered): Promise<Taken> {
  if (!Object.hasOwn(entered.values, id)) {
    if (type !== 'currentLocation') return { value: untouched(type, field, entered.now) };
    return entered.location === null ? { value: null } : accepted(type, field, entered.location);
  }
  const given = getOwn(entered.values, id);
  if (given === null || given === '') return { value: type === 'checkbox' ? false : null };
  const taken = accepted(type, field, given);
  if (taken.reason || !MEDIA.has(type) || (await entered.hasDocument(String(taken.value)))) return taken;
  return { value: null, reason: 'document' };
}

function accepted(type: string, field: ObjectValue, given: Value): Taken {
  const value = (TYPES[type] as Accept)(given, field);
  if (value === undefined) return { value: null, reason: type === 'droplist' || type === 'radioButtons' ? 'values' : 'type' };
  if (type === 'inputInteger' || type === 'inputReal') {
    const [least, most] = [exactBound(field, 'minValue', 0), exactBound(field, 'maxValue', 100)];
    if (isNumber(value) && (exactOf(value) < least || exactOf(value) > most)) return { value: null, reason: 'range' };
  }
  const longest = type === 'inputString' ? own(field, 'maxLength') : null;
  if (longest !== null && String(value).length > Number(longest)) return { value: null, reason: 'length' };
  return { value };
}

const exactBound = (field: ObjectValue, name: string, unlessTold: number): number | bigint => {
  const value = own(field, name);
  return isNumber(value) ? exactOf(value) : unlessTold;
};

/** The value of a field that was left empty. */
function untouched(type: string, field: ObjectValue, now: number): Value {
  const preset = presetOf(type, field);
  if (type === 'currentDateTime') return formatDateTime(now);
  if (type === 'checkbox') return preset ?? false;
  if (preset === null) return isSlider(type, field) ? (own(field, 'minValue') ?? 0) : null;
  if (type === 'date') return (time(preset, field) as string).slice(0, DAY_DIGITS);
  return (type === 'datetime' || type === 'map' ? TYPES[type]?.(preset, field) : preset) ?? null;
}
const DAY_DIGITS = 10;

const isSlider = (type: string, field: ObjectValue): boolean =>
  (type === 'inputInteger' || type === 'inputReal') && own(field, 'flavor') === 'slider';

const isMandatory = (type: string, field: ObjectValue): boolean =>
  own(field, 'optional') !== true && presetOf(type, field) === null && !NEVER_MISSING.has(type) && !isSlider(type, field);

/** The values that a form can be submitted with; a form without a button has one with the value 0. */
function buttonsOf(fields: readonly ObjectValue[]): Value[] {
  const single = fields.filter((field) => ['footerButton', 'inlineButton'].includes(String(own(field, 'type'))));
  const clusters = fields.filter((field) => own(field, 'type') === 'buttonCluster');
  return [...(single.length === 0 ? [0] : single.map((field) => own(field, 'value'))), ...clusters.flatMap(choicesOf)];
}

function fieldsOf(payload: ObjectValue): ObjectValue[] {
  const fields = own(payload, 'fields');
  return Array.isArray(fields) ? fields.filter(isObject) : [];
}

function choicesOf(field: ObjectValue): Value[] {
  const values = own(field, 'values');
  return Array.isArray(values) ? values.map((one) => (isObject(one) ? own(one, 'value') : one)) : [];
}

/** A member, null where it is absent or null. */
function own(object: ObjectValue, name: string): Value {
  return Object.hasOwn(object, name) ? getOwn(object, name) : null;
}
