import { expect, test } from 'vitest';
import { getOwn, type ObjectValue, type Value } from '../values/index.ts';
import { lookup } from './index.ts';
import { expectCases, outcome, testContext } from './testing/cases.ts';

const TYPE = { error: 'cascade.procedure.parameter.type' };

expectCases('builtins.md 9', [
  ['clear', [{ a: 1 }], null],
  ['deleteKey', [{ a: 1 }, 'a'], 1],
  ['deleteKey', [{}, 'a'], null],
  ['has', [{ a: null }, 'a'], true],
  ['has', [{}, 'a'], false],
  ['has', [{}, 'constructor'], false],
  ['containsKey', [{ a: 1 }, 'a'], true],
  ['get', [{ a: 1 }, 'b'], null],
  ['get', [{}, 'toString'], null],
  ['getOrDefault', [{}, 'a', 5], 5],
  ['getOrDefault', [{ a: null }, 'a', 5], null],
  ['put', [{ a: 1 }, 'a', 2], 1],
  ['keySet', [{ b: 1, a: 2 }], ['b', 'a']],
  ['keys', [{ b: 1, a: 2 }], ['b', 'a']],
  ['values', [{ b: 1, a: 2 }], [1, 2]],
  [
    'entrySet',
    [{ b: 1, a: 2 }],
    [
      { key: 'b', value: 1 },
      { key: 'a', value: 2 },
    ],
  ],
  ['size', [{ a: 1 }], 1],
  ['isEmpty', [{}], true],
  ['remove', [{ a: 1 }, 'a'], 1],
  ['push', [{ a: 1 }, 'a'], TYPE],
  ['Object.clone', [{ a: [1] }], { a: [1] }],
  ['Object.clone', [[1]], [1]],
  ['Object.clone', ['a'], TYPE],
  ['Utils.clone', [{ a: 1 }], { a: 1 }],
]);

expectCases('builtins.md 20', [
  ['Utils.deepMerge', [{ a: [{ b: 1 }] }, { a: [{ c: 2 }, 5] }], { a: [{ b: 1, c: 2 }, 5] }],
  ['Utils.deepMerge', [{ a: { b: 1 } }, { a: 2 }], { a: 2 }],
  ['Utils.deepMerge', [{ a: 1 }, { a: { b: 2 } }], { a: { b: 2 } }],
  ['Utils.deepMerge', [{ a: 1 }, { a: null }], { a: null }],
  ['Utils.deepMerge', [{ a: 1 }, 5], TYPE],
  ['Utils.stripSystemProperties', [{ _id: '1', ars_createdAt: 'x', ars_group: 'g', n: 2 }], { ars_group: 'g', n: 2 }],
  ['Utils.stripSystemProperties', [null], null],
]);

test('a clone shares nothing with its original', () => {
  const original = { x: { y: 1 } };
  const clone = lookup('Object.clone')?.call(testContext(), [original]) as { x: { y: number } };
  clone.x.y = 2;
  expect(original.x.y).toBe(1);
});

test('deepMerge refuses what holds itself, and tells what it makes', () => {
  const cyclic = (): Value => {
    const list: Value[] = [];
    list.push(list);
    return list;
  };
  const merge = (target: Value, source: Value) => {
    const context = testContext();
    return [outcome(() => lookup('Utils.deepMerge')?.call(context, [target, source]) ?? null), context.charged];
  };
  expect(merge({ a: cyclic() }, { a: cyclic() })[0]).toEqual({ error: 'cascade.lang.range' });
  const list = (length: number): Value => Array.from({ length }, (_, i) => i);
  const [, few] = merge({ a: [] }, { a: list(10) }) as [Value, number];
  const [, many] = merge({ a: [] }, { a: list(1010) }) as [Value, number];
  expect(many - few).toBe(48_000);
  const [merged, none] = merge({ a: list(2000) }, { a: list(1010) }) as [Value, number];
  expect(merged).toEqual({ a: list(2000) });
  expect(none).toBeLessThan(100);
});

test('what deepMerge takes over is a copy', () => {
  const source: ObjectValue = { a: { b: 1 } };
  const target = lookup('Utils.deepMerge')?.call(testContext(), [{}, source]) as { a: { b: number } };
  target.a.b = 2;
  expect(source).toEqual({ a: { b: 1 } });
});

test('a key called __proto__ is a key like others', () => {
  const object: ObjectValue = {};
  lookup('put')?.callMethod(testContext(), [object, '__proto__', 1]);
  expect([Object.keys(object), getOwn(object, '__proto__'), Object.getPrototypeOf(object)]).toEqual([['__proto__'], 1, Object.prototype]);
});

test('an unknown method tells the receiver’s type', () => {
  const call = (): Value | undefined => lookup('push')?.callMethod(testContext(), [{ a: 1 }, 1]);
  expect(call).toThrow(expect.objectContaining({ code: 'cascade.builtin.method.unknown', params: ['push', 'Object'] }));
});
