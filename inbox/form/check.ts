// What keeps a form from being sent: the checks that the service makes once more (integrations.md 8.4, steps 3 and 4). Pure.
import { choicesOf, hasValue, isRequired, placeOf, rangeOf, shownValue } from './form.ts';
import { isDay, timeOf } from './times.ts';
import { type Entered, type Field, type FieldType, isNumber, type Json, numberOf, own } from './types.ts';

export type Problem =
  | { readonly kind: 'missing' | 'type' | 'choice' | 'media' }
  | { readonly kind: 'range'; readonly least: number | bigint; readonly most: number | bigint }
  | { readonly kind: 'length'; readonly most: number };

/** By field id, in the order of the fields. */
export type Problems = ReadonlyMap<string, Problem>;

export const NO_PROBLEMS: Problems = new Map();

export function problemsOf(fields: readonly Field[], entered: Entered): Problems {
  const problems = new Map<string, Problem>();
  for (const field of fields) {
    if (!hasValue(field)) continue;
    const problem = problemOf(field, shownValue(field, entered));
    if (problem) problems.set(field.id, problem);
  }
  return problems;
}

function problemOf(field: Field, value: Json): Problem | null {
  if (value === null || value === '') return isRequired(field) ? { kind: 'missing' } : null;
  const check = CHECKS[field.type];
  return check ? check(value, field) : null;
}

/** A field that the service has found wrong, and why: what it says of an invalid value, or that there is none. */
export interface Refusal {
  readonly id: string;
  readonly reason: string;
}

/** What the service has found, in the order of the fields. */
export function problemsIn(fields: readonly Field[], refused: readonly Refusal[]): Problems {
  const reasons = new Map(refused.map(({ id, reason }) => [id, reason]));
  return new Map(
    fields.filter(hasValue).flatMap((field) => {
      const reason = reasons.get(field.id);
      return reason === undefined ? [] : [[field.id, refusedAs(reason, field)] as const];
    }),
  );
}

function refusedAs(reason: string, field: Field): Problem {
  if (reason === 'range') return { kind: 'range', ...rangeOf(field) };
  if (reason === 'length') return { kind: 'length', most: numberOf(field.source, 'maxLength', Number.POSITIVE_INFINITY) };
  return { kind: REFUSED_AS.get(reason) ?? 'type' };
}

const REFUSED_AS: ReadonlyMap<string, 'missing' | 'choice' | 'media'> = new Map([
  ['missing', 'missing'],
  ['values', 'choice'],
  ['document', 'media'],
]);

type Check = (value: Json, field: Field) => Problem | null;

const fits =
  (isFit: (value: Json) => boolean): Check =>
  (value) =>
    isFit(value) ? null : { kind: 'type' };
const named = (kind: string, extension: string): Check => {
  const name = new RegExp(`^rcs/${kind}/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.${extension}$`, 'i');
  return fits((value) => typeof value === 'string' && name.test(value));
};
const image = named('image', 'jpg');
const choice: Check = (value, field) => (choicesOf(field).some((one) => one.value === value) ? null : { kind: 'choice' });
const place = fits((value) => {
  const { longitude, latitude } = placeOf(value) ?? { longitude: Number.NaN, latitude: Number.NaN };
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;
});
const time = fits((value) => typeof value === 'string' && timeOf(value) !== null);
const text: Check = (value, field) => {
  if (typeof value !== 'string') return { kind: 'type' };
  const most = numberOf(field.source, 'maxLength', Number.POSITIVE_INFINITY);
  return value.length > most ? { kind: 'length', most } : null;
};
const number: Check = (value, field) => numberProblem(field, value);

/** By the types that have a value: a draft may be of another form than the one that has taken its place. */
const CHECKS: { readonly [T in FieldType]?: Check } = {
  audio: named('audio', 'm4a'),
  barcode: fits((value) => typeof value === 'string'),
  camera: image,
  checkbox: fits((value) => typeof value === 'boolean'),
  currentDateTime: time,
  currentLocation: place,
  date: fits((value) => typeof value === 'string' && isDay(value)),
  datetime: time,
  droplist: choice,
  inputInteger: number,
  inputReal: number,
  inputString: text,
  map: place,
  markupImage: image,
  radioButtons: choice,
  video: named('video', 'mp4'),
};

/** The service's integers have 64 bits. */
const isBeyond = (value: number | bigint): boolean => typeof value === 'bigint' && BigInt.asIntN(64, value) !== value;

function numberProblem(field: Field, value: Json): Problem | null {
  if (!isNumber(value) || isBeyond(value)) return { kind: 'type' };
  if (field.type === 'inputInteger' && typeof value === 'number' && !Number.isSafeInteger(value)) return { kind: 'type' };
  const { least, most } = rangeOf(field);
  return value < least || value > most ? { kind: 'range', least, most } : null;
}

/** The values of a draft that still fit: the form may have been replaced since they were entered. */
export function fitting(fields: readonly Field[], entered: Entered): Entered {
  const known = new Map(fields.filter(hasValue).map((field) => [field.id, field]));
  return Object.fromEntries(
    Object.entries(entered).filter(([id, value]) => {
      const field = known.get(id);
      if (!field) return false;
      const problem = problemOf(field, value);
      return problem === null || problem.kind === 'missing';
    }),
  );
}

/** Names of documents among what was entered. */
export function mediaIn(fields: readonly Field[], entered: Entered): string[] {
  const media = fields.filter(({ type }) => type === 'audio' || type === 'camera' || type === 'markupImage' || type === 'video');
  return media.flatMap(({ id }) => {
    const name = Object.hasOwn(entered, id) ? own({ ...entered }, id) : null;
    return typeof name === 'string' && name !== '' ? [name] : [];
  });
}
