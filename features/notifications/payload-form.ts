// Validates the form of a message (integrations.md 8.1 to 8.3, 8.5): reports all faults, in document order.
import {
  getOwn,
  isInteger,
  isNumber,
  isObject,
  numberOf,
  type ObjectValue,
  parseDateTime,
  type Real,
  type Value,
} from '../../stdlib/values/index.ts';
import { CascadeError, CascadeErrors, apiError } from '../../model/errors/index.ts';
import { exactOf, isSame, keyOf } from './form-numbers.ts';
import { checkTopic } from '../topics/index.ts';

type Reason = 'missing' | 'type' | 'pattern' | 'duplicate.id' | 'duplicate.value' | 'range' | 'default.not.in.values' | 'empty' | 'enum';
/** The reason why a value is invalid, or null. */
type Check = (value: Value) => Reason | null;

const text: Check = (value) => (typeof value === 'string' ? null : 'type');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'type');
const oneOf =
  (...names: string[]): Check =>
  (value) =>
    typeof value !== 'string' ? 'type' : names.includes(value) ? null : 'enum';
const whole =
  (least: number, most = Number.POSITIVE_INFINITY): Check =>
  (value) =>
    !isInteger(value) ? 'type' : value < least || value > most ? 'range' : null;
const matching =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value !== 'string' ? 'type' : pattern.test(value) ? null : 'pattern';
const date: Check = (value) => (typeof value === 'string' && parseDateTime(value) ? null : 'type');
const degrees =
  (most: number): Check =>
  (value) =>
    !isNumber(value) ? 'type' : Math.abs(numberOf(value)) > most ? 'range' : null;
const LONGITUDE = degrees(180);
const LATITUDE = degrees(90);

/** Checks a location: a GeoJSON Point, or a longitude and a latitude. */
function checkPlace(place: Value, at: string, report: (property: string, reason: Reason) => void): void {
  if (!isObject(place)) return report(at, 'type');
  const isPoint = present(place, 'type') === 'Point';
  const coordinates = isPoint ? present(place, 'coordinates') : null;
  if (isPoint && !Array.isArray(coordinates)) return report(`${at}/coordinates`, coordinates === null ? 'missing' : 'type');
  const parts = Array.isArray(coordinates)
    ? ([
        ['coordinates/0', coordinates[0] ?? null, LONGITUDE],
        ['coordinates/1', coordinates[1] ?? null, LATITUDE],
      ] as const)
    : ([
        ['longitude', present(place, 'longitude'), LONGITUDE],
        ['latitude', present(place, 'latitude'), LATITUDE],
      ] as const);
  for (const [property, value, check] of parts) {
    const reason = value === null ? 'missing' : check(value);
    if (reason) report(`${at}/${property}`, reason);
  }
}

const size =
  (most: number): Check =>
  (value) =>
    typeof value === 'string' && /^\d{1,3}$/.test(value) ? whole(1, most)(Number(value)) : whole(1, most)(value);

const color = matching(/^#[0-9A-Fa-f]{6}$/);
const MARKER: Readonly<Record<string, Check>> = { label: text, longitude: LONGITUDE, latitude: LATITUDE, color };
const style = oneOf('plain', 'bold', 'italic', 'bold-italic');
const ID = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const REFUSED_IDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const id: Check = (value) => (typeof value === 'string' && REFUSED_IDS.has(value) ? 'pattern' : matching(ID)(value));

interface FieldType {
  /** Whether fields of the type have a value, and so need an id. */
  readonly value: boolean;
  readonly required?: readonly string[];
  readonly own?: Readonly<Record<string, Check>>;
  /** Checks the default, where the type allows one. */
  readonly default?: Check;
  /** Checks across several properties; a fault is reported at the property that it names. */
  readonly more?: (field: ObjectValue, report: (property: string, reason: Reason) => void) => void;
}

const numeric = (fits: (value: Value) => value is number | bigint | Real): FieldType => ({
  value: true,
  own: {
    flavor: oneOf('text', 'slider'),
    minValue: (value) => (fits(value) ? null : 'type'),
    maxValue: (value) => (fits(value) ? null : 'type'),
    units: text,
    placeholder: text,
  },
  more: (field, report) => {
    const [least, most] = [bound(field, 'minValue', 0), bound(field, 'maxValue', 100)];
    if (least >= most) report('minValue', 'range');
    const preset = present(field, 'default');
    if (preset === null) return;
    if (!fits(preset)) report('default', 'type');
    else if (least < most && (exactOf(preset) < least || exactOf(preset) > most)) report('default', 'range');
  },
});
const choice: FieldType = {
  value: true,
  more: (field, report) => {
    const values = choices(field, report);
    const preset = present(field, 'default');
    if (values && preset !== null && !values.some((one) => isSame(one, preset))) report('default', 'default.not.in.values');
  },
};
const recording = (longest: Record<string, Check>): FieldType => ({ value: true, own: { ...longest, placeholder: text } });

const TYPES: Readonly<Record<string, FieldType>> = {
  audio: recording({ maxDurationSeconds: whole(1), maxSizeK: whole(1) }),
  barcode: { value: true, own: { placeholder: text }, default: text },
  buttonCluster: { value: false, required: ['values'] },
  camera: recording({ maxWidth: whole(1) }),
  checkbox: { value: true, own: { checkboxLabel: text }, default: flag },
  currentDateTime: { value: true },
  currentLocation: { value: true },
  date: { value: true, default: date },
  datetime: { value: true, default: date },
  dashboard: { value: false, own: { startTab: text, placeholder: text } },
  document: { value: false, required: ['url'], own: { url: text, flavor: text, placeholder: text } },
  droplist: { ...choice, required: ['values'] },
  footerButton: { value: false, required: ['buttonLabel', 'value'], own: { buttonLabel: text, value: whole(Number.NEGATIVE_INFINITY) } },
  image: { value: false, required: ['url'], own: { url: text } },
  inlineButton: {
    value: false,
    required: ['buttonLabel', 'value'],
    own: {
      buttonLabel: text,
      value: whole(Number.NEGATIVE_INFINITY),
      buttonLabelSize: size(200),
      buttonLabelStyle: style,
      buttonLabelColor: color,
      buttonBackgroundColor: color,
    },
  },
  inputInteger: numeric(isInteger),
  inputReal: numeric(isNumber),
  inputString: {
    value: true,
    own: { placeholder: text, maxLength: whole(1), flavor: oneOf('text', 'email', 'password', 'telephone', 'url', 'multiline') },
    default: text,
    more: (field, report) => {
      const [longest, preset] = [present(field, 'maxLength'), present(field, 'default')];
      if (isInteger(longest) && typeof preset === 'string' && preset.length > longest) report('default', 'range');
    },
  },
  map: {
    value: false,
    own: { maptype: oneOf('Standard', 'Hybrid', 'Satellite'), placeholder: text },
    more: (field, report) => {
      checkMarkers(field, report);
      const preset = present(field, 'default');
      if (preset !== null) checkPlace(preset, 'default', report);
    },
  },
  markupImage: recording({ source: text }),
  radioButtons: { ...choice, required: ['values'] },
  sectionLabel: { value: false, required: ['label'] },
  text: { value: false, own: { text } },
  video: recording({ maxDurationSeconds: whole(1), maxSizeK: whole(1) }),
};
const BUTTONS: ReadonlySet<string> = new Set(['footerButton', 'inlineButton']);
const SIZED: ReadonlySet<string> = new Set(['label', 'text', 'image']);

/** @throws CascadeErrors cascade.notification.payload for each fault: [JSON pointer, reason] */
export function checkForm(payload: Value): void {
  const faults: CascadeError[] = [];
  const report = (pointer: string, reason: Reason): void => void faults.push(apiError('cascade.notification.payload', pointer, reason));
  if (!isObject(payload)) report('', payload === null ? 'missing' : 'type');
  else {
    const topic = topicFault(present(payload, 'responseTopic'));
    if (topic) report('/responseTopic', topic);
    const fields = present(payload, 'fields') ?? [];
    if (Array.isArray(fields)) checkFields(fields, report);
    else report('/fields', 'type');
  }
  if (faults.length > 0) throw new CascadeErrors(faults);
}

function topicFault(topic: Value): Reason | null {
  if (topic === null) return 'missing';
  if (typeof topic !== 'string') return 'type';
  try {
    checkTopic(topic);
    return null;
  } catch (error) {
    if (error instanceof CascadeError) return 'pattern';
    throw error;
  }
}

function checkFields(fields: readonly Value[], report: (pointer: string, reason: Reason) => void): void {
  const ids = new Set<Value>();
  const buttons = new Set<string>();
  fields.forEach((field, at) => {
    const pointer = `/fields/${at}`;
    if (!isObject(field)) return report(pointer, 'type');
    const name = present(field, 'type');
    if (typeof name !== 'string') return report(`${pointer}/type`, name === null ? 'missing' : 'type');
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    if (!type) return; // fields of later versions are ignored everywhere
    const reportAt = (property: string, reason: Reason): void => report(`${pointer}/${property}`, reason);
    const given = present(field, 'id');
    const idFault = given === null ? (type.value ? 'missing' : null) : (id(given) ?? (ids.has(given) ? 'duplicate.id' : null));
    if (idFault) reportAt('id', idFault);
    if (given !== null) ids.add(given);
    checkField(name, type, field, reportAt);
    for (const { value, property } of buttonValues(name, field)) {
      const key = String(value);
      if (buttons.has(key)) reportAt(property, 'duplicate.value');
      buttons.add(key);
    }
  });
}

function checkField(name: string, type: FieldType, field: ObjectValue, reportAt: (property: string, reason: Reason) => void): void {
  const common: Record<string, Check> = { label: text, align: oneOf('left', 'right', 'center'), color, style, optional: flag };
  if (Object.hasOwn(field, 'label') || SIZED.has(name))
    common['size'] = size(name === 'image' && !Object.hasOwn(field, 'label') ? 100 : 200);
  for (const property of type.required ?? []) if (present(field, property) === null) reportAt(property, 'missing');
  if (name === 'text' && present(field, 'text') === null && present(field, 'label') === null) reportAt('text', 'missing');
  const checks = { ...common, ...type.own, ...(type.default ? { default: type.default } : {}) };
  for (const [property, check] of Object.entries(checks)) {
    const value = present(field, property);
    const reason = value === null ? null : check(value);
    if (reason) reportAt(property, reason);
  }
  if (name === 'buttonCluster') choices(field, reportAt, true);
  type.more?.(field, reportAt);
}

/** The values of a list of choices; undefined where faults were reported. */
function choices(field: ObjectValue, report: (property: string, reason: Reason) => void, isCluster = false): Value[] | undefined {
  const values = present(field, 'values');
  const refuse = (reason: Reason): undefined => report('values', reason) as undefined;
  if (values === null) return undefined; // reported as missing
  if (!Array.isArray(values)) return refuse('type');
  if (values.length === 0) return refuse('empty');
  const areTexts = !isCluster && values.every((one) => typeof one === 'string');
  if (!areTexts && values.some((one) => typeof one === 'string')) return refuse('type'); // values of both kinds, or of the wrong one
  let isSound = true;
  const reportAt = (property: string, reason: Reason): void => {
    isSound = false;
    report(property, reason);
  };
  if (!areTexts) values.forEach((one, at) => checkPair(one, `values/${at}`, isCluster, reportAt));
  const found = values.map((one) => (isObject(one) ? present(one, 'value') : one));
  const seen = new Set<Value>();
  found.forEach((one, at) => {
    if (one !== null && seen.has(keyOf(one))) reportAt(areTexts ? `values/${at}` : `values/${at}/value`, 'duplicate.value');
    seen.add(keyOf(one));
  });
  return isSound ? found : undefined;
}

/** Checks a choice with its label; in a cluster of buttons its value is an Integer. */
function checkPair(pair: Value, at: string, isCluster: boolean, reportAt: (property: string, reason: Reason) => void): void {
  if (!isObject(pair)) return reportAt(at, 'type');
  const [label, value] = [present(pair, 'label'), present(pair, 'value')];
  if (typeof label !== 'string') reportAt(`${at}/label`, label === null ? 'missing' : 'type');
  const fits = isCluster ? isInteger(value) : typeof value === 'string' || isNumber(value);
  if (!fits) reportAt(`${at}/value`, value === null ? 'missing' : 'type');
}

/** Checks the markers of a map. */
function checkMarkers(field: ObjectValue, report: (property: string, reason: Reason) => void): void {
  const markers = present(field, 'markers');
  if (markers === null) return;
  if (!Array.isArray(markers)) return report('markers', 'type');
  markers.forEach((marker, at) => {
    if (!isObject(marker)) return report(`markers/${at}`, 'type');
    for (const [property, check] of Object.entries(MARKER)) {
      const value = present(marker, property);
      const reason = value !== null ? check(value) : property === 'color' ? null : 'missing';
      if (reason) report(`markers/${at}/${property}`, reason);
    }
  });
}

/** The submit values of a button, or of a cluster; repetitions within a cluster are reported with its list. */
function buttonValues(name: string, field: ObjectValue): { value: Value; property: string }[] {
  if (BUTTONS.has(name)) return [{ value: present(field, 'value'), property: 'value' }].filter(({ value }) => isInteger(value));
  const values = name === 'buttonCluster' ? present(field, 'values') : null;
  if (!Array.isArray(values)) return [];
  const seen = new Set<Value>();
  return values
    .map((one, at) => ({ value: isObject(one) ? present(one, 'value') : null, property: `values/${at}/value` }))
    .filter(({ value }) => {
      const isNew = isInteger(value) && !seen.has(keyOf(value));
      seen.add(keyOf(value));
      return isNew;
    });
}

const bound = (field: ObjectValue, name: string, unlessTold: number): number | bigint => {
  const value = present(field, name);
  return isNumber(value) ? exactOf(value) : unlessTold;
};

/** A member, null where it is absent or null. */
function present(object: ObjectValue, name: string): Value {
  return Object.hasOwn(object, name) ? getOwn(object, name) : null;
}
