import { expect, test } from 'vitest';
import { CascadeError } from '../errors.ts';
import { type ObjectValue, Real, type Value } from '../values/index.ts';
import { allBuiltins, builtinTable, completions, lookup } from './index.ts';
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

test('which declaration of a name is meant: exactly the first argument, else what it can become; a receiver must be one', () => {
  const call = (name: string, ...args: Value[]) => outcome(() => lookup(name)!.call(testContext(), args));
  const method = (name: string, ...args: Value[]) => outcome(() => lookup(name)!.callMethod(testContext(), args));
  expect([call('size', 'abc'), call('size', [1, 2]), call('size', { a: 1 })]).toEqual([3, 2, 1]);
  expect([method('size', 'abc'), method('size', [1, 2]), method('size', 5), method('equals', 5, 5)]).toEqual([
    3,
    2,
    { error: 'cascade.builtin.method.unknown' },
    true,
  ]);
  expect([call('getHours', date('1970-01-01T07:00:00Z')), call('getHours', '1970-01-01T07:00:00Z'), call('getHours', 'x')]).toEqual([
    7,
    7,
    { error: 'cascade.procedure.parameter.type' },
  ]);
  expect([call('getHours', 1.5), call('Math.abs', '1')]).toEqual(Array(2).fill({ error: 'cascade.procedure.parameter.type' }));
  expect([
    call('concat', 'a', 1, 'b', null, true, 2.5, 'c'),
    call('concat', [1], [2]),
    call('format', '{4}{3}{2}{1}{0}', 1, 2, 3, 4, 5),
  ]).toEqual(['a1bnulltrue2.5c', [1, 2], '54321']);
  expect([method('length'), method('length', null)]).toEqual(Array(2).fill({ error: 'cascade.lang.null' }));
});

test('what a signature allows is what the compiler is told', () => {
  const params = (name: string) =>
    builtinTable()
      .get(name)
      ?.params.map(({ name: each, optional, rest, lambda }) => [each, optional, rest, lambda]);
  expect(params('split')).toEqual([
    ['str', false, false, false],
    ['pattern', false, false, false],
    ['limit', true, false, false],
  ]);
  expect(params('compute')).toEqual([
    ['map', false, false, false],
    ['key', false, false, false],
    ['fn', false, false, true],
  ]);
  expect(params('exception')?.map(([, optional]) => optional)).toEqual([false, false, true]);
  const forms = ['compute', 'Concurrent.Map', 'log.info', 'slice', 'equals'].map((name) => builtinTable().get(name)?.forms);
  expect(forms).toEqual(['M', 'S', 'S', 'FM', 'M']);
});

test('completions are the calls that begin so, in whatever case', () => {
  const found = completions('math.r');
  expect(found.length).toBeGreaterThan(1);
  expect(JSON.stringify(found)).toContain('Math.random(');
  expect(completions('nothing.begins.so')).toEqual([]);
});
