// Whether a value can become what a property, a parameter or an operand of a condition wants (language.md 4.3).
import type { Value } from '../../compiler/ast.ts';
import type { KnownOf } from '../inference.ts';
import { named, neverConverts } from '../kinds.ts';
import { parseReal } from '../../stdlib/values/index.ts';
import type { PropertyShape } from '../type-environment.ts';

const NUMERIC: ReadonlySet<string> = new Set(['Integer', 'Real', 'Decimal']);
/** @returns what the value is, when no value like it can become one of the target; else null */
export function misfit(node: Value, { type, multi }: Pick<PropertyShape, 'type' | 'multi'>, knownOf: KnownOf): string | null {
  if (node.type === 'String' && !multi && NUMERIC.has(type) && parseReal(node.value.trim()) === null)
    return `'${node.value.slice(0, 30)}' is no number`;
  if (node.type === 'Real' && !multi && type === 'DateTime' && !Number.isInteger(node.value))
    return 'a Real with a fraction cannot become a DateTime';
  const kinds = knownOf(node);
  if (!kinds?.[0] || !kinds.every((kind) => neverConverts(kind, type, multi))) return null;
  return `${kinds.map(named).join(' or ')} cannot become ${multi ? `an array of ${type}` : named({ name: type })}`;
}
