// Conditions that are decided in two parts: what the index can tell, and what needs a value that only a program gives.
import type { ConditionData, ExpressionData } from '../../compiler/types.ts';

type Asked = Extract<ExpressionData, { k: 'asked' }>;

/** What a condition asks programs for, in the order of its text. */
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

/** The terms of the top-level AND that ask for nothing: what holds wherever the whole condition does. */
export function withoutAsked(data: ConditionData | null): ConditionData | null {
  if (data === null || askedIn(data).length === 0) return data;
  if (data.op !== 'and') return null;
  const terms = data.terms.filter((term) => askedIn(term).length === 0);
  return terms.length === 0 ? null : { op: 'and', terms };
}
