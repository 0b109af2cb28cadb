// Random rules and events for the tests: few paths and few values, so that events often satisfy conditions, in every kind of value.
import fc from 'fast-check';
import type { CompareOperator, ConditionData, ExpressionData, TriggerSpec } from '../../../compiler/types.ts';
import {
  encodeInner,
  type ObjectValue,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  Real,
  type Value,
} from '../../../stdlib/values/index.ts';
import { instance, PROPERTIES } from '../../../model/query/testing/arbitrary.ts';
import type { IndexedRule } from '../types.ts';

export const TYPED = '/types/Any/insert';
export const UNTYPED = '/topics/a/b/publish';

const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** A value of every kind, and neighbours that compare equal across kinds. */
export const SCALARS: readonly Value[] = [
  null,
  true,
  false,
  0,
  1,
  2,
  5,
  -1,
  10,
  9007199254740991,
  9007199254740992n,
  9007199254740993n,
  -9007199254740993n,
  9223372036854775807n,
  -9223372036854775808n,
  0.5,
  1.5,
  0.1,
  new Real(5),
  new Real(0),
  new Real(-0),
  new Real(9007199254740992),
  new Real(-9007199254740992),
  new Real(9223372036854775808),
  new Real(1e300),
  new Real(0.5, '0.50000000000000000001'),
  '',
  'a',
  'ab',
  'b',
  '5',
  '5.0',
  '1.50',
  'true',
  'USD:5',
  'EUR:1.5',
  '2030-01-01T00:00:00.000Z',
  '1970-01-01',
  '/types/Pump',
  '\uffff',
  '\u{1f600}',
  '9007199254740993',
  '9223372036854775808',
  '1970-01-01T00:00:00.005Z',
  'u',
  '\u0001r5',
  parseDecimal('5.00'),
  parseDecimal('9007199254740993'),
  parseDecimal('9007199254740992.00'),
  parseDecimal('1.5'),
  parseDecimal('0.1'),
  parseDecimal('-0.50'),
  parseCurrency('USD:5.00'),
  parseCurrency('EUR:1.5'),
  parseDateTime('2030-01-01'),
  parseDateTime('1970-01-01'),
  parseDateTime('1970-01-01T00:00:00.005Z'),
];
const scalar = oneOf(SCALARS);
const reference = oneOf<Value>([{ resource: 'types', resourceId: 'Pump' }, { resourceId: 'Pump', resource: 'system.types' }, { a: 1 }]);

const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    { weight: 5, arbitrary: scalar },
    { weight: 1, arbitrary: reference },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 2,
      arbitrary: fc.dictionary(oneOf(['a', 'b', 'c', '0']), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    },
  ),
})).value;

/** The value of a publication on a topic: mostly an Object, sometimes any value. */
export const message: fc.Arbitrary<Value> = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(oneOf(['a', 'b', 'c']), value, { maxKeys: 3, noNullPrototype: true }) },
  { weight: 1, arbitrary: value },
);
export { instance as typedInstance };

const constant = (v: Value): ExpressionData => ({ k: 'const', v: JSON.parse(encodeInner(v)) as unknown });

const TYPED_CONSTANTS: readonly Value[] = [
  ...SCALARS,
  'USD:50',
  'EUR:5',
  '/system.types/Pump',
  '/users/ann',
  'x',
  '99999999999999999999.99',
  1893456000000,
];
const PATTERNS = ['^a', '^ab', 'b$', '^U', 'a|b', '^2030-', '(?i)A', '^5?'];
const COMPARISONS: readonly CompareOperator[] = ['==', '!=', '<', '<=', '>', '>='];

const typedSteps = oneOf([
  ...Object.keys(PROPERTIES).map((name) => [name]),
  ...['e.resource', 'm.code', 'm.value', 'o.a', 'o.a.b', 'os.k', 'ns.0', 'nowhere', '_id'].map((path) => path.split('.')),
]);
const untypedSteps = oneOf(['a', 'b', 'c', 'a.b', 'a.a', 'b.0', 'a.0.b', ''].map((path) => path.split('.').filter(Boolean)));
const eventSteps = oneOf([['topic'], ['deliveryCount'], ['createdAt'], ['nothing']]);

function compare(left: fc.Arbitrary<ExpressionData>, constants: fc.Arbitrary<Value>): fc.Arbitrary<ConditionData> {
  const right: fc.Arbitrary<ExpressionData> = fc.oneof(
    { weight: 8, arbitrary: constants.map(constant) },
    { weight: 1, arbitrary: left },
    { weight: 1, arbitrary: constants.map((v): ExpressionData => ({ k: 'array', items: [constant(v)] })) },
  );
  const list = fc.array(constants, { maxLength: 4 }).map(constant);
  return fc.oneof(
    { weight: 4, arbitrary: fc.tuple(left, right).map(([l, r]): ConditionData => ({ op: 'compare', operator: '==', left: l, right: r })) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(oneOf(COMPARISONS), left, right)
        .map(([operator, l, r]): ConditionData => ({ op: 'compare', operator, left: l, right: r })),
    },
    { weight: 2, arbitrary: fc.tuple(left, list).map(([l, r]): ConditionData => ({ op: 'compare', operator: 'in', left: l, right: r })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(left, oneOf(PATTERNS))
        .map(([l, r]): ConditionData => ({ op: 'compare', operator: 'regex', left: l, right: constant(r) })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(left, constants, constants).map(
        ([l, low, high]): ConditionData => ({
          op: 'and',
          terms: [
            { op: 'compare', operator: '>=', left: l, right: constant(low) },
            { op: 'compare', operator: '<', left: l, right: constant(high) },
          ],
        }),
      ),
    },
  );
}

/** Conditions on one variable; `typed`: it holds an instance of the type Any, else a message. */
function condition(typed: boolean, binds: 'event' | 'value'): fc.Arbitrary<ConditionData> {
  const inPayload = (typed ? typedSteps : untypedSteps).chain((steps) =>
    binds === 'value' ? fc.constant(steps) : oneOf(['value', 'newValue']).map((name) => [name, ...steps]),
  );
  const steps = binds === 'value' ? inPayload : fc.oneof({ weight: 6, arbitrary: inPayload }, { weight: 1, arbitrary: eventSteps });
  const path = steps.map((p): ExpressionData => ({ k: 'path', root: 'x', p }));
  const computed = path.map((a): ExpressionData => ({ k: 'binary', op: '+', a, b: constant(1) }));
  const constants = typed ? oneOf(TYPED_CONSTANTS) : fc.oneof({ weight: 5, arbitrary: scalar }, { weight: 1, arbitrary: reference });
  const where = fc
    .tuple(oneOf(['a', 'n', 'value.a', 'value.s']), scalar)
    .map(([name, v]): ConditionData => ({ op: 'where', value: constant({ [name]: v }) }));
  return fc.letrec<{ condition: ConditionData }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { weight: 12, arbitrary: compare(path, constants) },
      { weight: 1, arbitrary: compare(computed, constants) },
      { weight: 1, arbitrary: where },
      { weight: 1, arbitrary: tie('condition').map((term): ConditionData => ({ op: 'not', term })) },
      {
        weight: 4,
        arbitrary: fc
          .tuple(oneOf(['and', 'or'] as const), fc.array(tie('condition'), { minLength: 1, maxLength: 3 }))
          .map(([op, terms]): ConditionData => ({ op, terms })),
      },
    ),
  })).condition;
}

const trigger: fc.Arbitrary<TriggerSpec> = fc
  .tuple(fc.boolean(), oneOf(['event', 'value'] as const))
  .chain(([typed, binds]) =>
    fc
      .option(condition(typed, binds), { freq: 12 })
      .map((data): TriggerSpec => ({ paths: [typed ? TYPED : UNTYPED], variable: 'x', binds, condition: data })),
  );

export const rule: fc.Arbitrary<IndexedRule> = fc
  .tuple(fc.nat(30), oneOf([null, null, 'A', 'b', '1.00']), trigger, fc.option(trigger, { freq: 2 }))
  .chain(([number, version, first, second]) => {
    const baseName = `r${number}`;
    const triggers = second && second.binds === first.binds ? [first, second] : [first];
    return fc.option(condition(first.paths[0] === TYPED, first.binds), { freq: 3 }).map((where) => ({
      name: version === null ? baseName : `${baseName}:${version}`,
      baseName,
      version,
      triggers,
      where,
      payload: null,
    }));
  });

export const eventObject = (payload: Value): ObjectValue => ({
  value: payload,
  newValue: payload,
  topic: 'a',
  deliveryCount: 1,
  createdAt: parseDateTime('2030-01-01'),
});
