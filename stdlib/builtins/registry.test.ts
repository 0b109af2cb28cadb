import { expect, test } from 'vitest';
import { CascadeError } from '../errors.ts';
import { type ObjectValue, Real, type Value } from '../values/index.ts';
import { allBuiltins, builtinTable, lookup } from './index.ts';
import { date, outcome, TestSequence, testContext } from './testing/cases.ts';

const named = (name: string, args: ObjectValue, receiver?: Value) => outcome(() => lookup(name)!.callNamed(testContext(), args, receiver));

test('builtins.md 0.1 C2: named arguments go to the parameters of their names', () => {
  expect([
    named('slice', { str: 'abcd', start: 1 }),
    named('slice', { start: -1, arr: [1, 2] }),
    named('slice', { arr: [1, 2], begin: 1 }),
  ]).toEqual(['bcd', { error: 'cascade.procedure.argument.unknown' }, [2]]);
});

test('builtins.md 0.1 C2: in method form the receiver is not named', () => {
  expect([
    named('slice', { start: 1 }, 'abcd'),
    named('slice', { str: 'x', start: 1 }, 'abcd'),
    named('slice', { begin: 1 }, [1, 2]),
  ]).toEqual(['bcd', { error: 'cascade.procedure.argument.unknown' }, [2]]);
});

test('builtins.md 0.1 C3: omitted and null are the same for an optional parameter', () => {
  expect([named('join', { arr: [1, 2] }), named('join', { arr: [1, 2], separator: null })]).toEqual(['1,2', '1,2']);
});

test('builtins.md 0.1 C4: what is not given is missing', () => {
  expect([named('slice', { str: 'abcd' }), named('trim', {}), named('startsWith', { substr: 'a' }, 'abc')]).toEqual([
    { error: 'cascade.procedure.parameter.missing' },
    { error: 'cascade.procedure.parameter.missing' },
    true,
  ]);
});

test('builtins.md 0.1 C6: ISO text and epoch ms stand for a DateTime, an Integer for a Real, nothing for a String', () => {
  const call = (name: string, ...args: Value[]) => outcome(() => lookup(name)!.call(testContext(), args));
  const type = { error: 'cascade.procedure.parameter.type' };
  expect([call('addMonth', '2026-01-31', 1), call('getHours', 3_600_000), call('startsWith', 'a1', 1), call('concat', 'a', 1)]).toEqual([
    date('2026-02-28'),
    1,
    type,
    'a1',
  ]);
});

test('the errors of arguments tell procedure, parameter, expected and actual', () => {
  const error = (run: () => unknown): CascadeError => {
    try {
      run();
    } catch (caught) {
      if (caught instanceof CascadeError) return caught;
    }
    throw new Error('nothing was refused');
  };
  const refused = (name: string, ...args: Value[]) => error(() => lookup(name)!.call(testContext(), args)).params;
  expect(refused('split', 'a', 5)).toEqual(['split', 'pattern', 'RegExp or String', 'Integer']);
  expect(refused('split', 'a')).toEqual(['split', 'pattern']);
  expect(refused('trim', 'a', 'b')).toEqual(['trim', 2]);
  expect(refused('trim', null)).toEqual(['str']);
  expect(refused('size', 5)).toEqual(['size', 'str', 'String', 'Integer']);
  expect(refused('length', new TestSequence([]))).toEqual(['length']);
});

test('a missing argument is null to a method, too', () => {
  expect(outcome(() => lookup('trim')!.callMethod(testContext(), [null]))).toEqual({ error: 'cascade.lang.null' });
  expect(outcome(() => lookup('trim')!.callMethod(testContext(), [new Real(1)]))).toEqual({ error: 'cascade.builtin.method.unknown' });
});

test('a name with several declarations is one entry of the compiler’s table', () => {
  const table = builtinTable();
  expect(table.get('size')).toMatchObject({ name: 'size', forms: 'FM', effect: 'pure' });
  expect(table.get('concat')?.params.map(({ rest, sequence }) => [rest, sequence])).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(table.get('toArray')?.params[0]).toMatchObject({ name: 'v', sequence: true });
  expect([...table].every(([name, { effect }]) => effect === 'suspends' || lookup(name) !== undefined)).toBe(true);
  expect(table.get('Context.profiles')).toEqual({ name: 'Context.profiles', forms: 'S', params: [], effect: 'suspends' });
});

test('every built-in has its line for the documentation', () => {
  const undocumented = [...allBuiltins()].flatMap(({ overloads }) => overloads).filter(({ about }) => !/^\S.*\.$/.test(about));
  expect(undocumented.map(({ name, about }) => `${name}: ${about}`)).toEqual([]);
});

test('what changes its first argument says so: conditions on events hand it a copy', () => {
  const sample = (types: readonly string[]): Value =>
    types.includes('List')
      ? [3, 1, 2]
      : types.includes('Object')
        ? { a: 1, b: { c: 2 } }
        : types.includes('String')
          ? 'a'
          : types.includes('Boolean')
            ? true
            : 1;
  const silent: string[] = [];
  let changing = 0;
  for (const { overloads } of allBuiltins())
    for (const { name, params, host, mutates, run } of overloads) {
      const [first] = params;
      if (host || !first || !(first.types.includes('List') || first.types.includes('Object') || first.types.includes('any'))) continue;
      for (const given of [[3, 1, [2]], { a: 1, b: { c: 2 } }]) {
        if (!first.types.includes('any') && !first.types.includes(Array.isArray(given) ? 'List' : 'Object')) continue;
        const before = JSON.stringify(given);
        const others = params
          .slice(1)
          .map(({ types, rest }) => (rest ? [] : types.includes('any') && Array.isArray(given) ? 3 : sample(types)));
        outcome(() => (run as (context: unknown, ...args: unknown[]) => Value)(testContext(), given, ...others));
        if (JSON.stringify(given) === before) continue;
        changing++;
        if (!mutates) silent.push(`${name}(${first.types.join('|')})`);
      }
    }
  expect(silent).toEqual([]);
  expect(changing).toBeGreaterThan(12);
});
