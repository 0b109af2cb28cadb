// The state of services as a run sees it (language.md 8): which one a call has, when it is made, and when what has changed goes back.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import type { ObjectValue, Value } from '../values/index.ts';
import type { Host, Outcome } from './testing/lane.ts';
import { TestLane } from './testing/lane.ts';
import { StateHost } from './testing/state-host.ts';

const builtins = builtinTable();
/** S has both kinds of state, G the global one only. */
const stateOf = (service: string) =>
  /^[SG]$/.test(service) ? { global: ['total', 'list'], partitioned: service === 'S' ? ['level', 'items'] : [] } : null;

class Services {
  readonly state: StateHost;
  readonly #lane = new TestLane({ compile: (text) => compile(text, { builtins, stateOf }), evaluate: runInThisContext });
  constructor(texts: readonly string[], beside?: Host) {
    this.state = new StateHost(beside);
    for (const text of texts) this.#lane.load(text);
  }
  call(name: string, ...args: never[]): Outcome {
    return this.#lane.call(name, args, this.state.host);
  }
  /** The value, or code and params of the error. */
  given(name: string, ...args: unknown[]): unknown {
    const { value, failure } = this.call(name, ...(args as never[]));
    return failure ? `${failure.code} ${JSON.stringify(failure.params)}` : value;
  }
}
/** What was asked: of the state `op` and variable, else the kind. */
const asked = ({ ops }: Outcome): string[] =>
  ops.map(({ kind, payload }) => (kind === 'state' ? [payload.op, payload.name].filter(Boolean).join(' ') : kind));

test('Y3, Y4: global state and that of a partition, whose key is the text of the first argument', () => {
  const services = new Services([
    'GLOBAL PROCEDURE S.add(n) total = (total == null ? 0 : total) + n',
    'PROCEDURE S.raise(key, n) level = (level == null ? 0 : level) + n',
    'STATELESS PROCEDURE S.none(total) total',
  ]);
  expect([services.given('S.add', 2), services.given('S.add', 3)]).toEqual([2, 5]);
  expect([services.given('S.raise', 7, 1), services.given('S.raise', '7', 1), services.given('S.raise', 'b', 1)]).toEqual([1, 2, 1]);
  expect(services.given('S.raise', { resource: 'Pump', resourceId: 'x' }, 4)).toBe(4);
  expect([...services.state.partitions]).toEqual(['7', 'b', '/Pump/x']);
  expect([services.state.at('S//total'), services.state.at('S/7/level')]).toEqual([5, 2]);
  expect(asked(services.call('S.none', 3 as never))).toEqual([]);
});

test.each([
  [null, 'cascade.lang.null ["partitionKey"]'],
  [true, 'cascade.procedure.parameter.type ["S.get","partitionKey","String","Boolean"]'],
  [[1], 'cascade.procedure.parameter.type ["S.get","partitionKey","String","List"]'],
  [{ a: 1 }, 'cascade.procedure.parameter.type ["S.get","partitionKey","String","Object"]'],
  [{ resourceId: 'x' }, 'cascade.procedure.parameter.type ["S.get","partitionKey","String","Object"]'],
])('Y4: %j is no key of a partition', (key, error) => {
  expect(new Services(['PROCEDURE S.get(key) level']).given('S.get', key)).toBe(error);
});

test('Y6: who finds the state new initialises it, once', () => {
  const services = new Services([
    'PRIVATE PROCEDURE S.initializeGlobalState() total = 100',
    'PRIVATE PROCEDURE S.initializePartitionedState() level = 7',
    'GLOBAL PROCEDURE S.total() total',
    'PROCEDURE S.level(key) level',
    'GLOBAL PROCEDURE S.explicit() S.initializeGlobalState()',
  ]);
  const first = services.call('S.total');
  expect([first.value, asked(first)]).toEqual([100, ['enter', 'set total', 'entered', 'get total']]);
  expect(first.ops[2]?.payload).toEqual({ op: 'entered', service: 'S', partition: null, failed: false });
  expect(asked(services.call('S.total'))).toEqual(['enter', 'get total']);
  expect([services.given('S.level', 'a'), services.given('S.level', 'b')]).toEqual([7, 7]);
  expect(services.given('S.explicit')).toBe('cascade.procedure.private ["S.initializeGlobalState"]');
  expect(services.given('S.initializeGlobalState')).toBe('cascade.procedure.private ["S.initializeGlobalState"]');
});

test('state that nothing initialises is there at once', () => {
  const made = new Services(['GLOBAL PROCEDURE G.total() total']).call('G.total');
  expect([made.value, asked(made)]).toEqual([null, ['enter', 'entered', 'get total']]);
});

test('an initialising procedure that fails is run again by the next one, of the same run, too', () => {
  const services = new Services([
    'PRIVATE PROCEDURE S.initializeGlobalState() exception("x", "y")',
    'GLOBAL PROCEDURE S.total() total',
    'STATELESS PROCEDURE S.twice() var n = 0  for (i in [1, 2]) { try { S.total() } catch (e) { n = n + 1 } }  n',
  ]);
  const once = services.call('S.total');
  expect([once.failure?.code, once.ops.at(-1)?.payload]).toEqual(['x', { op: 'entered', service: 'S', partition: null, failed: true }]);
  const twice = services.call('S.twice');
  expect([twice.value, asked(twice)]).toEqual([2, ['enter', 'entered', 'enter', 'entered']]);
});

test('a limit in an initialising procedure ends the run: nothing is asked any more', () => {
  const services = new Services([
    'PRIVATE PROCEDURE S.initializeGlobalState() var a = []  a[10000000] = 1',
    'GLOBAL PROCEDURE S.total() total',
  ]);
  const ended = services.call('S.total');
  expect([ended.failure?.code, asked(ended)]).toEqual(['cascade.execution.memory', ['enter']]);
});

test('a run enters a state once, however many of its procedures have it', () => {
  const services = new Services([
    'GLOBAL PROCEDURE S.bump() total = (total == null ? 0 : total) + 1',
    'GLOBAL PROCEDURE S.both() S.bump()  S.bump()',
  ]);
  const both = services.call('S.both');
  expect([both.value, asked(both).filter((op) => op === 'enter')]).toEqual([2, ['enter']]);
});

test('Y5: MULTI PARTITION runs once a partition, and gives a Sequence', () => {
  const services = new Services([
    'PROCEDURE S.set(key, n) level = n',
    'MULTI PARTITION PROCEDURE S.all(more) level + more',
    'STATELESS PROCEDURE S.kind() var s = S.all(1)  return [typeOf(s), toArray(s)]',
  ]);
  expect(services.given('S.all', 1)).toEqual([]);
  services.given('S.set', 'a', 10);
  services.given('S.set', 'b', 20);
  expect(services.given('S.all', 5)).toEqual([15, 25]);
  expect(services.given('S.kind')).toEqual(['Sequence', [11, 21]]);
});

test('Y4, Y7: PRIVATE procedures are called with the state of their caller, or by EXECUTE', () => {
  const services = new Services([
    'PRIVATE GLOBAL PROCEDURE S.ownGlobal() total',
    'PRIVATE PROCEDURE S.own(n) level = n',
    'PRIVATE MULTI PARTITION PROCEDURE S.ownAll() level',
    'GLOBAL PROCEDURE S.fromGlobal() total = 5  return S.ownGlobal()',
    'PROCEDURE S.fromPartition(key) S.own(3)  return level',
    'GLOBAL PROCEDURE S.crossed() S.own(1)',
    'PROCEDURE S.crossedToo(key) S.ownGlobal()',
    'GLOBAL PROCEDURE S.crossedAll() S.ownAll()',
    'GLOBAL PROCEDURE S.executed() return EXECUTE S.own(9) WITH partitionKey = "q"',
    'PROCEDURE S.executedGlobal(key) return EXECUTE S.ownGlobal()',
    'STATELESS PROCEDURE S.executedAll() var all = EXECUTE S.ownAll()  return toArray(all)',
    'PROCEDURE S.get(key) level',
    'STATELESS PROCEDURE S.elsewhere() return EXECUTE S.get("a") WITH partitionKey = "q"',
  ]);
  expect([services.given('S.fromGlobal'), services.given('S.fromPartition', 'a')]).toEqual([5, 3]);
  expect(services.given('S.crossed')).toBe('cascade.procedure.private ["S.own"]');
  expect(services.given('S.crossedToo', 'a')).toBe('cascade.procedure.private ["S.ownGlobal"]');
  expect(services.given('S.crossedAll')).toBe('cascade.procedure.private ["S.ownAll"]');
  expect([services.given('S.executed'), services.state.at('S/q/level'), services.given('S.elsewhere')]).toEqual([9, 9, 9]);
  expect([services.given('S.executedGlobal', 'a'), services.given('S.executedAll')]).toEqual([5, [3, 9]]);
});

test('an Object or Array of the state is one as long as the run lives, and goes back when it has changed', () => {
  const services = new Services([
    'GLOBAL PROCEDURE S.make() list = [1]  var l = list  l.push(2)  return list == l',
    'GLOBAL PROCEDURE S.read() var a = list  var b = list  a.push(9)  return b',
    'GLOBAL PROCEDURE S.look() var a = list  return a.size()',
  ]);
  const made = services.call('S.make');
  expect([made.value, asked(made)]).toEqual([true, ['enter', 'entered', 'set list', 'get list', 'get list', 'set list']]);
  expect(services.state.at('S//list')).toEqual([1, 2]);
  expect(services.given('S.read')).toEqual([1, 2, 9]);
  expect(services.state.at('S//list')).toEqual([1, 2, 9]);
  expect(asked(services.call('S.look'))).toEqual(['enter', 'get list']);
});

test('what has changed is there before anything else is asked, and after an error; not after a limit', () => {
  const services = new Services([
    'GLOBAL PROCEDURE S.make() list = []',
    'GLOBAL PROCEDURE S.stored() var l = list  l.push(1)  INSERT T(n: 1)',
    'GLOBAL PROCEDURE S.failing() var l = list  l.push(2)  exception("x", "y")',
    'GLOBAL PROCEDURE S.dying() var l = list  l.push(3)  var a = []  a[10000000] = 1',
  ]);
  services.call('S.make');
  expect(asked(services.call('S.stored'))).toEqual(['enter', 'get list', 'set list', 'insert']);
  expect([services.call('S.failing').failure?.code, services.state.at('S//list')]).toEqual(['x', [1, 2]]);
  expect([services.call('S.dying').failure?.code, services.state.at('S//list')]).toEqual(['cascade.execution.memory', [1, 2]]);
});

test('what another run has changed meanwhile is seen through the names that the run has', () => {
  const changed: Host = () => {
    services.state.put('S//list', { b: 2, c: [3] });
    return { ok: null };
  };
  const services: Services = new Services(
    [
      'GLOBAL PROCEDURE S.make(o) list = o',
      'GLOBAL PROCEDURE S.seen() var o = list  INSERT T(n: 1)  var again = list  return [o, again == o]',
    ],
    changed,
  );
  services.given('S.make', { a: 1, b: 1 });
  expect(services.given('S.seen')).toEqual([{ b: 2, c: [3] }, true]);
  services.given('S.make', [1, 2]);
  expect(services.given('S.seen')).toEqual([[1, 2], false]);
  services.given('S.make', null);
  expect(services.given('S.seen')).toEqual([null, false]);
});

test.each(['{"__proto__":{"a":1},"n":2}', '{"__proto__":5,"n":2}', '{"n":2,"__proto__":null}'])(
  'a member __proto__ that another run has changed is one (%s)',
  (json) => {
    const changed: Host = () => {
      services.state.put('S//list', JSON.parse(json) as Value);
      return { ok: null };
    };
    const services: Services = new Services(
      [
        'GLOBAL PROCEDURE S.make(o) list = o',
        'GLOBAL PROCEDURE S.seen() var o = list  INSERT T(n: 1)  list.n = list.n + 1  return [keys(o), stringify(o["__proto__"])]',
      ],
      changed,
    );
    services.given('S.make', JSON.parse('{"__proto__":{"b":1},"n":0}'));
    const after = json.replace('"n":2', '"n":3');
    expect(services.given('S.seen')).toEqual([
      Object.keys(JSON.parse(json) as object),
      JSON.stringify((JSON.parse(json) as ObjectValue)['__proto__']),
    ]);
    expect(JSON.stringify(services.state.at('S//list'))).toBe(after);
  },
);

test('a scalar takes the place of an Object, and Sequences are Arrays in the state', () => {
  const services = new Services([
    'GLOBAL PROCEDURE S.swap() list = {a: 1}  var o = list  list = 5  o.a = 2  return list',
    'GLOBAL PROCEDURE S.lazy() list = MAP (x in [1, 2]) { x * 2 }  return list',
    'GLOBAL PROCEDURE S.rows(): Any SEQUENCE MAP (x in [1, 2]) { x + total }',
    'GLOBAL PROCEDURE S.set() total = 10',
    'GLOBAL PROCEDURE S.map() total = Concurrent.Map()  total.put("a", 1)  return total.a',
  ]);
  expect([services.given('S.swap'), services.state.at('S//list')]).toEqual([5, 5]);
  expect([services.given('S.lazy'), services.state.at('S//list')]).toEqual([
    [2, 4],
    [2, 4],
  ]);
  services.given('S.set');
  expect(services.given('S.rows')).toEqual([11, 12]);
  expect(services.given('S.map')).toBe(1);
});

test('what is too large to be stored ends the run, wherever it would go into the state', () => {
  const big = 'var b = ["x"]  for (i in range(0, 60, 1)) { b = [b, b] }  ';
  const services = new Services([
    `GLOBAL PROCEDURE S.assigned() ${big} list = b`,
    `GLOBAL PROCEDURE S.inside() list = []  var l = list  ${big} l.push(b)`,
    `GLOBAL PROCEDURE S.put() var m = Concurrent.Map()  ${big} m.put("a", b)`,
    `GLOBAL PROCEDURE S.computed() var m = Concurrent.Map()  ${big} m.compute("a", (k, v) => b)`,
    `GLOBAL PROCEDURE S.lazy() ${big} list = MAP (x in [1]) { b }`,
  ]);
  for (const name of ['assigned', 'inside', 'put', 'computed', 'lazy'])
    expect(services.call(`S.${name}`).failure?.code, name).toBe('cascade.execution.memory');
});
