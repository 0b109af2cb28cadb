// Built-ins in conditions of events: what takes long is not done in the service's own process.
import { expect, test } from 'vitest';
import { systemClock } from '../platform/clock/index.ts';
import { BudgetExceeded } from '../model/query/index.ts';
import { allBuiltins } from '../stdlib/builtins/index.ts';
import type { Value } from '../stdlib/values/index.ts';
import { pureBuiltins } from './host-context.ts';

const builtins = pureBuiltins(systemClock);
function outcome(name: string, ...args: Value[]): Value | 'asked' {
  try {
    return builtins(name)?.(...args) ?? null;
  } catch (error) {
    if (error instanceof BudgetExceeded) return 'asked';
    throw error;
  }
}

const text = 'a '.repeat(3_500_000);
const LONG: Readonly<Record<string, Value>> = {
  List: Array.from({ length: 1_000_000 }, () => 1),
  String: text,
  any: text,
  Object: { a: text },
  Boolean: false,
};

/** They look at no more than a place of their arguments, or at the ends of the texts. */
const QUICK = [
  ...[
    'endsWith',
    'startsWith',
    'equals',
    'length',
    'size',
    'isEmpty',
    'charAt',
    'slice',
    'substring',
    'substr',
    'toBoolean',
    'clear',
    'get',
  ],
  ...[
    'remove',
    'deleteKey',
    'has',
    'containsKey',
    'getOrDefault',
    'keySet',
    'keys',
    'values',
    'entrySet',
    'Utils.deepMerge',
    'text',
    'typeOf',
  ],
  ...['Utils.stripSystemProperties', 'toArray', 'Math.max', 'Math.min'],
];

test('each built-in that goes through all of a long argument tells of it', () => {
  const returned = new Set<string>();
  for (const { info, overloads } of allBuiltins()) {
    if (info.effect !== 'pure' || info.params.some(({ lambda }) => lambda)) continue;
    for (const { params } of overloads) {
      const args = params.map(({ types }) => Object.entries(LONG).find(([type]) => types.includes(type))?.[1] ?? 1);
      if (args.every((arg) => arg === 1 || arg === false)) continue;
      try {
        builtins(info.name)?.(...args);
        returned.add(info.name);
      } catch {
        // Asked elsewhere, or refused for what it is.
      }
    }
  }
  expect([...returned].filter((name) => !QUICK.includes(name))).toEqual([]);
});

/** One of each type. */
const SMALL: Readonly<Record<string, Value>> = {
  Number: 1,
  Integer: 1,
  String: 'a',
  any: 'a',
  List: [1],
  Object: { a: [1], b: [2] },
  Boolean: true,
};

test('conditions ask a run for each built-in that takes something of one', () => {
  const ofRun = new Set<string>();
  for (const { info, overloads } of allBuiltins()) {
    if (info.effect !== 'pure' || info.params.some(({ lambda }) => lambda)) continue;
    for (const { params } of overloads) {
      const args = params.map(({ types }) => Object.entries(SMALL).find(([type]) => types.includes(type))?.[1] ?? null);
      try {
        builtins(info.name)?.(...args);
      } catch (error) {
        if (error instanceof TypeError) ofRun.add(info.name);
      }
    }
  }
  expect([...ofRun]).toContain('Math.random');
  const marked = [...allBuiltins()].flatMap(({ info }) => (info.ofRun && info.name !== 'merge' ? info.name : [])); // merge may take a lambda
  expect([...ofRun].toSorted()).toEqual(marked.toSorted());
});

test.each(['includes', 'contains', 'indexOf', 'lastIndexOf'])(
  '%s of a long text in a long one, which the engine takes the product for',
  (name) => {
    const [sought, backwards] = [`${'a'.repeat(50)}b${'a'.repeat(20_000)}`, `${'a'.repeat(20_000)}b`];
    expect(outcome(name, 'a'.repeat(40_000), name === 'lastIndexOf' ? backwards : sought)).toBe(
      name === 'indexOf' || name === 'lastIndexOf' ? -1 : false,
    );
    expect(outcome(name, 'a'.repeat(4_000_000), 'a'.repeat(60))).toBe('asked');
    expect(outcome(name, 'a'.repeat(4_000_000), 'a'.repeat(2_000_000))).toBe('asked');
  },
);

test('what few characters make much of tells of each turn', () => {
  const xs = Array.from({ length: 600 }, () => 1);
  const template = (times: number): Value => outcome('io.service.text.Template.format', '@repeat(xs)@endrepeat'.repeat(times), { xs });
  expect([template(10), template(600)]).toEqual(['', 'asked']);
  const big = { list: Array.from({ length: 3_000 }, () => 'a') };
  for (const name of ['format', 'io.service.text.Strings.format'])
    expect(outcome(name, '{0}'.repeat(100), name === 'format' ? big : [big])).toBe('asked');
  expect(outcome('io.service.text.Strings.format', `{0,number,${'0'.repeat(20_000)}}`, [1])).toBe('asked');
});
