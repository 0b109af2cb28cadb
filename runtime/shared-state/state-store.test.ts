import { expect, test } from 'vitest';
import { fromInner, type SharedKind } from '../../stdlib/values/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import { handleOf, type StoredValue, NOTHING, type ServiceState, StateStore } from './index.ts';
import type { StateUser } from './state-store.ts';

const any = {
  type: 'Integer',
  initial: () => ({ json: '0', refs: [] }),
  accept: (value: { json: string }) => (value.json === '"x"' ? null : { ...NOTHING, json: value.json }),
};
const ENVIRONMENT = { owner: 'n', clock: systemClock, evicted: () => undefined };
const STATE: ServiceState = { version: '1', global: new Map([['n', any]]), partitioned: new Map([['n', any]]) };

/** A run that remembers what it was told to keep. */
function user(run: string): StateUser & { kept: unknown[] } {
  const kept: unknown[] = [];
  return { run, kept, keep: (answer) => kept.push(answer) };
}
const ask = async (store: StateStore, run: StateUser, payload: Record<string, unknown>): Promise<unknown> => {
  const answer = await store.perform(payload as never, run);
  return JSON.parse((answer as { ok: string }).ok) as unknown;
};

test('partitions have values of their own, apart from the global state', async () => {
  const store = new StateStore(() => STATE, ENVIRONMENT);
  const run = user('r');
  await ask(store, run, { op: 'set', service: 'S', partition: 'a', name: 'n', value: 5 });
  expect(await ask(store, run, { op: 'get', service: 'S', partition: 'a', name: 'n', version: 0 })).toEqual({ version: 2, value: 5 });
  expect(await ask(store, run, { op: 'get', service: 'S', partition: 'b', name: 'n', version: 0 })).toEqual({ version: 1, value: 0 });
  expect(await ask(store, run, { op: 'get', service: 'S', partition: null, name: 'n', version: 1 })).toEqual({ version: 1 });
  expect(await ask(store, run, { op: 'partitions', service: 'S' })).toEqual(['a', 'b']);
  expect(run.kept).toEqual([{ ok: '2' }]);
});

test('a value of another type is refused and changes nothing', async () => {
  const store = new StateStore(() => STATE, ENVIRONMENT);
  const set = ask(store, user('r'), { op: 'set', service: 'S', partition: null, name: 'n', value: 'x' });
  await expect(set).rejects.toMatchObject({ code: 'cascade.service.state.type', params: ['S', 'n', 'Integer'] });
  expect(await ask(store, user('r'), { op: 'get', service: 'S', partition: null, name: 'n', version: 0 })).toEqual({
    version: 1,
    value: 0,
  });
});

test('state of another shape begins anew', async () => {
  let version = '1';
  const store = new StateStore(() => ({ ...STATE, version }), ENVIRONMENT);
  await ask(store, user('r'), { op: 'set', service: 'S', partition: null, name: 'n', value: 5 });
  version = '2';
  expect(await ask(store, user('r'), { op: 'get', service: 'S', partition: null, name: 'n', version: 0 })).toMatchObject({ value: 0 });
});

test('one run initialises, the others wait for it; a failure leaves it to the next', async () => {
  const store = new StateStore(() => STATE, ENVIRONMENT);
  const [a, b] = [user('a'), user('b')];
  const enter = { op: 'enter', service: 'S', partition: null };
  expect(await ask(store, a, enter)).toBe(true);
  const second = ask(store, b, enter);
  await ask(store, a, { op: 'entered', service: 'S', partition: null, failed: true });
  expect(await second).toBe(true);
  await ask(store, b, { op: 'entered', service: 'S', partition: null, failed: false });
  expect(await ask(store, a, enter)).toBe(false);
});

test('what a failing initialisation has set counts no more', async () => {
  const large = 'x'.repeat(100 * 1024 * 1024); // of the 256 Mi characters that a namespace may have
  const property = { ...any, accept: () => ({ ...NOTHING, json: large }) };
  const properties = new Map([['n', property]]);
  const store = new StateStore(() => ({ version: '1', global: properties, partitioned: properties }), ENVIRONMENT);
  for (const partition of [null, null, null, 'a', 'a', 'a']) {
    const state = { service: 'S', partition };
    expect(await ask(store, user('r'), { op: 'enter', ...state })).toBe(true);
    await ask(store, user('r'), { op: 'set', ...state, name: 'n', value: 1 });
    await ask(store, user('r'), { op: 'entered', ...state, failed: true });
  }
});

test('what a lambda decides is done alone, and never lost', async () => {
  const store = storeWithValue();
  const runs = Array.from({ length: 20 }, (_, i) => user(`r${i}`));
  await Promise.all(
    runs.map(async (run) => {
      const object = await valueIn(store, run);
      const begun = (await ask(store, run, { op: 'begin', object, key: '' })) as { token: number; value: number | null };
      await new Promise(setImmediate);
      await ask(store, run, { op: 'end', token: begun.token, change: 'set', value: (begun.value ?? 0) + 1 });
      expect(run.kept).toHaveLength(2); // the beginning counts only with its end
    }),
  );
  expect(await ask(store, user('r'), { op: 'call', object: await valueIn(store, user('r')), method: 'getValue', args: [] })).toBe(20);
});

test('an entry that a lambda works on stays away when all entries are removed meanwhile, but for what the lambda removes itself', async () => {
  const store = storeWithValue(1, 'Map');
  const [a, b] = [user('a'), user('b')];
  const call = async (run: StateUser, method: string, ...args: unknown[]) =>
    ask(store, run, { op: 'call', object: await valueIn(store, run), method, args });
  const begin = async (run: StateUser) =>
    (await ask(store, run, { op: 'begin', object: await valueIn(store, run), key: 'k' })) as { token: number };
  await call(b, 'put', 'k', 5);
  const { token } = await begin(a);
  await call(b, 'clear');
  await ask(store, a, { op: 'end', token, change: 'set', value: 6 });
  expect(await call(b, 'size')).toBe(0);
  const own = await begin(a);
  await call(a, 'clear');
  await call({ ...user('within'), within: a }, 'clear');
  await ask(store, a, { op: 'end', token: own.token, change: 'set', value: 7 });
  expect(await call(b, 'get', 'k')).toBe(7);
});

test('a run that ends frees what it held, and one that would wait for itself is refused', async () => {
  const store = storeWithValue(2);
  const [a, b] = [user('a'), user('b')];
  const begin = async (run: StateUser, name: string) => ask(store, run, { op: 'begin', object: await valueIn(store, run, name), key: '' });
  await begin(a, 'v0');
  await begin(b, 'v1');
  const waiting = begin(a, 'v1');
  await new Promise(setImmediate);
  await expect(begin(b, 'v0')).rejects.toMatchObject({ code: 'cascade.service.state.deadlock' });
  store.release('b');
  await expect(waiting).resolves.toMatchObject({ present: true });
});

test('a run has what the one holds that waits for it, alone of all within that, and gives it back', async () => {
  const store = storeWithValue();
  const outer = user('outer');
  const within = (run: string): StateUser => ({ ...user(run), within: outer });
  const begin = async (run: StateUser) =>
    (await ask(store, run, { op: 'begin', object: await valueIn(store, run), key: '' })) as { token: number };
  const end = (run: StateUser, token: number) => ask(store, run, { op: 'end', token, change: 'none', value: null });
  const held = await begin(outer);
  const other = begin(user('other'));
  const first = await begin(within('first'));
  const order: string[] = [];
  void other.then(() => order.push('other'));
  const second = begin(within('second')).then(({ token }) => (order.push('second'), token));
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  await end(within('first'), first.token);
  store.release('first');
  const token = await second;
  expect(order).toEqual(['second']);
  await end(within('second'), token);
  await end(outer, held.token);
  await other;
  expect(order).toEqual(['second', 'other']);
});

test('who waits for a lock within a run that another one waits for is in the way of that one', async () => {
  const store = storeWithValue(2);
  const [outer, other] = [user('outer'), user('other')];
  const inner: StateUser = { ...user('inner'), within: outer };
  const begin = async (run: StateUser, name: string) => ask(store, run, { op: 'begin', object: await valueIn(store, run, name), key: '' });
  await begin(outer, 'v0');
  await begin(other, 'v1');
  const waiting = begin(inner, 'v1');
  await new Promise(setImmediate);
  await expect(begin(other, 'v0')).rejects.toMatchObject({ code: 'cascade.service.state.deadlock' });
  store.release('other');
  await waiting;
});

test('what an initialising run has others do finds the state as it is', async () => {
  const store = storeWithValue();
  const enter = { op: 'enter', service: 'S', partition: null };
  const outer = user('outer');
  expect(await ask(store, outer, enter)).toBe(true);
  expect(await ask(store, { ...user('inner'), within: outer }, enter)).toBe(false);
});

/** A service whose global state holds Values, or other shared objects, `v0`, `v1` … */
function storeWithValue(count = 1, kind: SharedKind = 'Value'): StateStore {
  const store: StateStore = new StateStore(() => state, ENVIRONMENT);
  const global = new Map(
    Array.from({ length: count }, (_, i) => [
      `v${i}`,
      { type: kind, initial: () => handleOf(store.make(kind)), accept: (value: StoredValue) => value },
    ]),
  );
  const state: ServiceState = { version: '1', global, partitioned: null };
  return store;
}
async function valueIn(store: StateStore, run: StateUser, name = 'v0'): Promise<unknown> {
  const got = (await ask(store, run, { op: 'get', service: 'S', partition: null, name, version: 0 })) as { value: string };
  return fromInner(got.value);
}

test('all entries of a large Map, for a run that goes on and for one that has ended meanwhile', async () => {
  const store = new StateStore(() => STATE, ENVIRONMENT);
  const [a, b] = [user('a'), user('b')];
  const call = (run: StateUser, method: string, ...args: unknown[]): Promise<unknown> =>
    ask(store, run, { op: 'call', object: fromInner(map), method, args });
  const map = await ask(store, a, { op: 'create', kind: 'Map', options: [] });
  for (let i = 0; i < 600; i++) await call(a, 'put', `k${i}`, i);
  const all = call(a, 'values');
  await call(a, 'put', 'late', 1);
  expect(await all).toHaveLength(600);
  expect(a.kept.length).toBe(603);
  const [ended, goesOn] = [call(a, 'values'), call(a, 'size')];
  await goesOn;
  store.release('a');
  expect(await ended).toBe(null);
  expect(await ask(store, b, { op: 'partitions', service: 'S' })).toEqual([]);
});
