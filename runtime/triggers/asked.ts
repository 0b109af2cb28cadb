// Splits conditions into the part that the index can decide, and the part that needs a value from a program.
import type { ConditionData, ExpressionData } from '../../compiler/types.ts';

type Asked = Extract<ExpressionData, { k: 'asked' }>;

/** The values that a condition needs from programs, in the order of its text. */
export function askedIn(data: ConditionData | null): readonly Asked[] {
  const found: Asked[] = [];
  if (data) collect(data, found);
  return found;
}

function collect(part: unknown, found: Asked[]): void {
  if (part === null || typeof part !== 'object') return;
  if (Array.isArray(part)) {
    for (const item of part) collect(item, found);
    return;
  }
  const { k } = part as ExpressionData;
  if (k === 'asked') found.push(part as Asked);
  else if (k !== 'const') for (const value of Object.values(part)) collect(value, found);
}

/** The terms of the top-level AND that need no program: they hold wherever the whole condition does. */
export function withoutAsked(data: ConditionData | null): ConditionData | null {
  if (data === null || askedIn(data).length === 0) return data;
  if (data.op !== 'and') return null;
  const terms = data.terms.filter((term) => askedIn(term).length === 0);
  return terms.length === 0 ? null : { op: 'and', terms };
}
