// The index decides as the naive filter, only faster: random rules that are added and removed, random events of declared types and of
// topics.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CompareOperator, ConditionData } from '../../compiler/types.ts';
import { encodeInner, type ObjectValue, Real, type Value } from '../../stdlib/values/index.ts';
import { PROPERTIES, SAMPLES } from '../../model/query/testing/arbitrary.ts';
import { typeOf } from '../../model/query/testing.ts';
import { coerceProperty } from '../../model/types/index.ts';
import { eventObject, message, rule, SCALARS, TYPED, typedInstance, UNTYPED } from './testing/arbitrary.ts';
import { holds } from './compare-term.ts';
import { contextOf, typeAt } from './evaluation-context.ts';
import { compileCondition } from './terms.ts';
import { TriggerIndex } from './trigger-index.ts';
import type { IndexedRule, TriggerIndexOptions } from './types.ts';
import { amount } from '../../scripts/testing/amount.ts';

const type = typeOf('Any', { ...PROPERTIES });
const options: TriggerIndexOptions = {
  typeOf: (name) => (name === 'Any' ? type : null),
  builtin: () => undefined,
  namespace: 'plant',
  onError: () => undefined,
};

/**
 * The naive filter: all rules one after another, conditions from left to right, an error is false, then the newest version whose WHERE
 * holds.
 */
function naive(rules: Iterable<IndexedRule>, path: string, payload: Value): string[] {
  const context = contextOf(payload, () => eventObject(payload));
  const candidates = [...rules].filter(({ triggers, where }) => {
    const first = triggers.find((spec) => spec.paths.includes(path) && isTrue(spec.condition, spec));
    return first !== undefined && isTrue(where, first);
  });
  function isTrue(data: IndexedRule['where'], { variable, binds }: IndexedRule['triggers'][number]): boolean {
    if (data === null) return true;
    const variables = new Map([[variable, { binds, type: typeAt(path, options) }]]);
    try {
      return holds(compileCondition(data, variables, options), context);
    } catch {
      return false;
    }
  }
  const youngest = new Map<string, IndexedRule>();
  for (const each of candidates) {
    const other = youngest.get(each.baseName);
    if (!other || (each.version ?? '').toLowerCase() > (other.version ?? '').toLowerCase()) youngest.set(each.baseName, each);
  }
  return [...youngest.values()].map(({ name }) => name).sort();
}

function stored(raw: ObjectValue): ObjectValue {
  const coerced = Object.entries(raw).map(([name, value]) => {
    const property = type.properties.get(name);
    return [name, property ? coerceProperty(type, property, value) : value] as const;
  });
  return { _id: '0123456789abcdef01234567', ...Object.fromEntries(coerced) };
}

/** A rule for every operator and constant, and for ranges between two of them, on one path. */
function everyRule(p: readonly string[], constants: readonly Value[]): IndexedRule[] {
  const left = { k: 'path', root: 'x', p } as const;
  const term = (operator: CompareOperator, v: Value): ConditionData => ({
    op: 'compare',
    operator,
    left,
    right: { k: 'const', v: JSON.parse(encodeInner(v)) as unknown },
  });
  const single = constants.flatMap((v) => (['==', '<', '<=', '>', '>='] as const).map((operator) => term(operator, v)));
  const lists = constants.map((v, i) => term('in', [v, constants[(i * 7 + 3) % constants.length] as Value]));
  const ranges = constants.flatMap((low, i) =>
    [1, 5, 11].map(
      (by): ConditionData => ({ op: 'and', terms: [term('>', low), term('<', constants[(i + by) % constants.length] as Value)] }),
    ),
  );
  return [...single, ...lists, ...ranges].map((condition, i) => ({
    name: `r${i}`,
    baseName: `r${i}`,
    version: null,
    triggers: [{ paths: [UNTYPED, TYPED], variable: 'x', binds: 'value', condition }],
    where: null,
    payload: null,
  }));
}

function expectSame(index: TriggerIndex, rules: readonly IndexedRule[], path: string, payload: Value): number {
  const found = index.match(path, payload, () => eventObject(payload)).map(({ rule }) => rule.name);
  const expected = naive(rules, path, payload);
  expect(found.sort(), encodeInner(payload)).toEqual(expected);
  return expected.length;
}

test('every kind of value on a topic matches the constants that the language compares it with', () => {
  const rules = everyRule(['a'], SCALARS);
  const index = new TriggerIndex(options);
  for (const each of rules) index.add(each);
  const values = [...SCALARS, [], {}, { resource: 'types', resourceId: 'Pump' }];
  let met = 0;
  for (const [i, one] of values.entries()) {
    met += expectSame(index, rules, UNTYPED, { a: one });
    for (const by of [1, 3, 8, 20]) met += expectSame(index, rules, UNTYPED, { a: [one, values[(i + by) % values.length] as Value] });
  }
  expect(met).toBeGreaterThan(5_000);
});

test.each(Object.entries(PROPERTIES).filter(([, declaration]) => !/Object|GeoJSON/.test(declaration)))(
  'instances meet the constants that their property %s (%s) equals, or is above or below',
  (name, declaration) => {
    const [kind = ''] = declaration.split(/\W/);
    const samples = SAMPLES[kind] as readonly Value[];
    const rules = everyRule(
      [name],
      [
        null,
        ...samples,
        ...(kind === 'Currency' ? ['5', '50.00', 7] : kind === 'Integer' ? [1.5, '2', new Real(2 ** 53), -(2 ** 53)] : []),
      ],
    );
    const index = new TriggerIndex(options);
    for (const each of rules) index.add(each);
    const values = declaration.includes('multi')
      ? samples.flatMap((a, i) => [[], [a], [a, samples[(i + 1) % samples.length] as Value]])
      : samples;
    let met = 0;
    for (const value of [null, ...values]) met += expectSame(index, rules, TYPED, stored({ [name]: value }));
    expect(met).toBeGreaterThan(10);
  },
);

type Step = { add: IndexedRule } | { remove: number } | { path: string; payload: Value };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: rule.map((add): Step => ({ add })) },
  { weight: 2, arbitrary: fc.nat().map((remove): Step => ({ remove })) },
  { weight: 5, arbitrary: typedInstance.map((raw): Step => ({ path: TYPED, payload: stored(raw) })) },
  { weight: 5, arbitrary: message.map((payload): Step => ({ path: UNTYPED, payload })) },
);

test('the index finds the same rules as the naive filter, whatever was added and removed', { timeout: 600_000 }, () => {
  let met = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 120, size: 'max' }), (steps) => {
      const index = new TriggerIndex(options);
      const rules = new Map<string, IndexedRule>();
      for (const each of steps) {
        if ('add' in each) {
          index.add(each.add);
          rules.set(each.add.name, each.add);
        } else if ('remove' in each) {
          const name = [...rules.keys()][each.remove % rules.size];
          if (name === undefined) continue;
          index.remove(name);
          rules.delete(name);
        } else {
          const { path, payload } = each;
          const found = index.match(path, payload, () => eventObject(payload)).map(({ rule }) => rule.name);
          const expected = naive(rules.values(), path, payload);
          met += expected.length;
          expect(found.sort(), `${path} ${encodeInner(payload)}`).toEqual(expected);
          const explained = index.explain(path, payload, () => eventObject(payload)).filter(({ matched }) => matched);
          expect(explained.map((explanation) => explanation.rule.name).sort()).toEqual(expected);
        }
      }
      expect(index.size).toBe(rules.size);
    }),
    { numRuns: Number(process.env.CASCADE_INDEX_RUNS ?? amount(30, 80)) },
  );
  expect(met).toBeGreaterThan(100);
});
