// A form as it is to be shown: its fields, its buttons, what stands in a field at first. Pure.
import {
  type Button,
  type Choice,
  type Entered,
  type Field,
  FIELD_TYPES,
  type FieldType,
  exactOf,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  own,
  type Place,
  textOf,
} from './types.ts';
import { dayOf, timeOf } from './times.ts';

const KNOWN: ReadonlySet<string> = new Set(FIELD_TYPES);
const WITH_VALUE: ReadonlySet<FieldType> = new Set([
  ...(['audio', 'barcode', 'camera', 'checkbox', 'currentDateTime', 'currentLocation', 'date', 'datetime', 'droplist'] as const),
  ...(['inputInteger', 'inputReal', 'inputString', 'map', 'markupImage', 'radioButtons', 'video'] as const),
]);
const NEVER_MISSING: ReadonlySet<FieldType> = new Set(['checkbox', 'currentDateTime', 'currentLocation']);
/** Types that take no default: one in the payload counts for nothing. */
const WITHOUT_DEFAULT: ReadonlySet<FieldType> = new Set([
  ...(['audio', 'camera', 'currentDateTime', 'currentLocation', 'markupImage', 'video'] as const),
]);
const defaultOf = ({ type, source }: Field): Json => (WITHOUT_DEFAULT.has(type) ? null : own(source, 'default'));

/** Fields of types that are not known are left out. */
export function fieldsOf(payload: JsonObject): Field[] {
  const fields = own(payload, 'fields');
  if (!Array.isArray(fields)) return [];
  return fields.filter(isObject).flatMap((source, at): Field[] => {
    const type = textOf(source, 'type');
    return KNOWN.has(type) ? [{ type: type as FieldType, id: textOf(source, 'id'), key: `field-${at}`, source }] : [];
  });
}

export const hasValue = ({ type, id }: Field): boolean => WITH_VALUE.has(type) && id !== '';

export const isSlider = ({ type, source }: Field): boolean =>
  (type === 'inputInteger' || type === 'inputReal') && own(source, 'flavor') === 'slider';

/** Whether a form may not be sent while this field is empty. */
export const isRequired = (field: Field): boolean =>
  hasValue(field) &&
  own(field.source, 'optional') !== true &&
  defaultOf(field) === null &&
  !NEVER_MISSING.has(field.type) &&
  !isSlider(field);

/** What stands below the fields: footer buttons, or the one that a form without buttons of its own has. */
export function footerButtons(fields: readonly Field[]): Button[] {
  const footer = fields.filter(({ type }) => type === 'footerButton');
  if (footer.length > 0) return footer.map(({ source }) => ({ label: textOf(source, 'buttonLabel'), value: exactOf(source, 'value', 0) }));
  return fields.some(({ type }) => type === 'inlineButton') ? [] : [{ label: '', value: 0 }];
}

/** Of a droplist, radio buttons or a cluster of buttons. */
export function choicesOf({ source }: Field): Choice[] {
  const values = own(source, 'values');
  if (!Array.isArray(values)) return [];
  return values.flatMap((one): Choice[] => {
    if (typeof one === 'string') return [{ label: one, value: one }];
    const value = isObject(one) ? own(one, 'value') : null;
    return isObject(one) && (typeof value === 'string' || isNumber(value)) ? [{ label: textOf(one, 'label'), value }] : [];
  });
}

export const rangeOf = ({ source }: Field): { least: number | bigint; most: number | bigint } => ({
  least: exactOf(source, 'minValue', 0),
  most: exactOf(source, 'maxValue', 100),
});

const STEPS = 100;
/** Of a slider: round, and such that its greatest value can be reached. */
export function stepOf(field: Field): number {
  if (field.type === 'inputInteger') return 1;
  const [least, most] = [Number(rangeOf(field).least), Number(rangeOf(field).most)];
  const finest = (most - least) / STEPS;
  const power = 10 ** Math.floor(Math.log10(finest));
  const reaches = (step: number): boolean => {
    const steps = (most - least) / step;
    return Math.abs(steps - Math.round(steps)) < 1e-6;
  };
  return [5, 2, 1, 0.5, 0.2, 0.1].map((share) => share * power).find((step) => step <= finest && reaches(step)) ?? finest;
}

export function placeOf(value: Json | undefined): Place | null {
  if (!isObject(value)) return null;
  const point = own(value, 'type') === 'Point' ? own(value, 'coordinates') : null;
  const [longitude, latitude] = Array.isArray(point) ? point : [own(value, 'longitude'), own(value, 'latitude')];
  return typeof longitude === 'number' && typeof latitude === 'number' ? { longitude, latitude } : null;
}

/** What a field shows while nobody has touched it. */
export function presetOf(field: Field): Json {
  const preset = defaultOf(field);
  if (preset === null) return field.type === 'checkbox' ? false : isSlider(field) ? rangeOf(field).least : null;
  if (field.type === 'date' || field.type === 'datetime') {
    const at = timeOf(String(preset));
    return at && (field.type === 'date' ? dayOf(at) : at.toISOString());
  }
  if (field.type !== 'map') return preset;
  const place = placeOf(preset);
  return place && { ...place };
}

export const shownValue = (field: Field, entered: Entered): Json =>
  Object.hasOwn(entered, field.id) ? (entered[field.id] ?? null) : presetOf(field);
