// What keeps a form from being sent: the checks that the service makes once more (integrations.md 8.4, steps 3 and 4). Pure.
import { choicesOf, hasValue, isRequired, placeOf, rangeOf, shownValue } from './form.ts';
import { type Entered, type Field, type Json, numberOf, own } from './types.ts';

export type Problem =
  | { readonly kind: 'missing' | 'type' | 'choice' | 'media' }
  | { readonly kind: 'range'; readonly least: number; readonly most: number }
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
  switch (field.type) {
    case 'inputInteger':
    case 'inputReal':
      return numberProblem(field, value);
    case 'inputString': {
      const most = numberOf(field.source, 'maxLength', Number.POSITIVE_INFINITY);
      if (typeof value !== 'string') return { kind: 'type' };
      return value.length > most ? { kind: 'length', most } : null;
    }
    case 'droplist':
    case 'radioButtons':
      return choicesOf(field).some((choice) => choice.value === value) ? null : { kind: 'choice' };
    case 'date':
    case 'datetime':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? null : { kind: 'type' };
    case 'map':
      return placeOf(value) ? null : { kind: 'type' };
    default:
      return null;
  }
}

function numberProblem(field: Field, value: Json): Problem | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return { kind: 'type' };
  if (field.type === 'inputInteger' && !Number.isSafeInteger(value)) return { kind: 'type' };
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
