// The keys of a hash join never separate values that the condition finds equal, whatever is declared and whatever arrives; keys that claim
// to be exact decide as the condition does.
import { expect, test } from 'vitest';
import type { ConditionData } from '../../compiler/types.ts';
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import { PROPERTIES, SAMPLES } from '../../model/query/testing/arbitrary.ts';
import { typeOf } from '../../model/query/testing.ts';
import { coerceProperty } from '../../model/types/index.ts';
import { SCALARS, TYPED, UNTYPED } from './testing/arbitrary.ts';
import { conditionOf } from './condition.ts';
import { joinOf } from './join.ts';
import { ANY } from './keys.ts';
import type { ConditionEnvironment, EvaluationContext } from './types.ts';

const type = typeOf('Any', { ...PROPERTIES });
const outside: ConditionEnvironment = { typeOf: (name) => (name === 'Any' ? type : null), builtin: () => undefined, namespace: 'plant' };
const triggers = [
  { paths: [TYPED], variable: 'a', binds: 'value', condition: null },
  { paths: [UNTYPED], variable: 'b', binds: 'value', condition: null },
] as const;
const sides = { left: new Set(['a']), right: new Set(['b']) };

const OTHERS: readonly Value[] = [...SCALARS, [], ['a', 5], {}, { a: 1 }, { resource: 'types', resourceId: 'Pump' }, '/types/Pump', 'x'];

function check(condition: ConditionData, lefts: readonly Value[], rights: readonly Value[], name: string): number {
  const join = joinOf(condition, triggers, sides, outside);
  if (!join) return 0;
  const holds = conditionOf(condition, triggers, outside);
  const payloads: { a: Value; b: Value } = { a: null, b: null };
  const context: EvaluationContext = { payload: (variable) => payloads[variable as 'a' | 'b'], event: () => ({}) };
  let met = 0;
  for (const left of lefts)
    for (const right of rights) {
      payloads.a = { [name]: left };
      payloads.b = { v: right };
      const keys = [join.left.keyOf(context), join.right.keyOf(context)];
      const isExact = join.isWhole && join.left.wasExact && join.right.wasExact;
      const isTrue = isMet(() => holds(context));
      const mayMeet = keys[0] === keys[1] || keys.includes(ANY);
      const shown = `${name} ${encodeInner(left)} ${encodeInner(right)}`;
      if (isTrue) expect(mayMeet, shown).toBe(true);
      if (isExact && keys[0] === keys[1]) expect(isTrue, shown).toBe(true);
      if (isTrue) met++;
    }
  return met;
}

/** The decision of a condition, for which an error is false. */
function isMet(decide: () => boolean): boolean {
  try {
    return decide();
  } catch {
    return false;
  }
}

const path = (root: 'a' | 'b', step: string) => ({ k: 'path', root, p: [step] }) as const;

test.each(Object.entries(PROPERTIES))('a property %s (%s) on either side of the equality', (name, declaration) => {
  const [kind = ''] = declaration.split(/\W/);
  const property = type.properties.get(name);
  if (!property) throw new Error(name);
  const samples = SAMPLES[kind] ?? [];
  const lists = declaration.includes('multi')
    ? samples.flatMap((one, i) => [[one], [one, samples[(i + 1) % samples.length] as Value]])
    : samples;
  const lefts: Value[] = [null, ...lists.map((one) => coerceProperty(type, property, one))];
  const rights = [...OTHERS, ...samples, ...lefts];
  const met =
    check({ op: 'compare', operator: '==', left: path('a', name), right: path('b', 'v') }, lefts, rights, name) +
    check({ op: 'compare', operator: '==', left: path('b', 'v'), right: path('a', name) }, lefts, rights, name);
  if (/^(?:String|Integer|Real|Decimal|Currency|DateTime)/.test(declaration)) expect(met).toBeGreaterThan(samples.length);
});

test('values without a declared type', () => {
  const met = check({ op: 'compare', operator: '==', left: path('a', 'nowhere'), right: path('b', 'v') }, OTHERS, OTHERS, 'nowhere');
  expect(met).toBeGreaterThan(OTHERS.length);
});
