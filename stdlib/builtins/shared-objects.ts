// What several runs may hold at one time (builtins.md 10): Map, Cache, Value and Lock. The host keeps them; here are their calls.
import type { Declaration, HostDeclaration } from './declaration.ts';

const made = (call: string, about: string, errors: Declaration['errors'] = []): Declaration => ({
  call,
  forms: 'S',
  about,
  errors,
  effect: 'suspends',
  shared: 'create',
});
const method =
  (shared: HostDeclaration['shared']) =>
  (call: string, about: string): Declaration => ({ call, forms: 'M', about, effect: 'suspends', ...(shared && { shared }) });
const called = method('call');
const decided = method('lambda');

export const sharedObjects: readonly Declaration[] = [
  made('Concurrent.Map() => Map', 'A new Map that procedures of a service may share.'),
  made(
    'Concurrent.Cache(maximumSize: Integer = -1, expireAfterAccessMs: Integer = -1, expireAfterWriteMs: Integer = -1) => Map',
    'A Map that lets entries go: those used longest ago when it is full, and those whose time is over.',
    ['cascade.lang.range'],
  ),
  made('Concurrent.Value() => Value', 'A new Value that procedures of a service may share; null at first.'),
  made('Concurrent.Lock() => Lock', 'A new Lock.'),

  called('size(map: Map) => Integer', 'How many entries there are.'),
  called('isEmpty(map: Map) => Boolean', 'Whether there is no entry.'),
  called('containsKey(map: Map, key: Key) => Boolean', 'Whether there is an entry with the key.'),
  called('containsValue(map: Map, value: any) => Boolean', 'Whether an entry has the value.'),
  called('get(map: Map, key: Key) => any', 'The value of an entry, or null.'),
  called('getOrDefault(map: Map, key: Key, defaultValue: any|null) => any', 'The value of an entry, or the default.'),
  called('put(map: Map, key: Key, value: any) => any', 'Sets an entry; its value before, or null.'),
  called('putIfAbsent(map: Map, key: Key, value: any) => any', 'Adds an entry; null, or the value that is there.'),
  called('remove(map: Map, key: Key, value?: any) => any', 'Removes an entry, with a value only where it has that one.'),
  called('keySet(map: Map) => Sequence', 'The keys as they are now.'),
  called('values(map: Map) => Sequence', 'The values as they are now.'),
  called('entrySet(map: Map) => Sequence', 'The entries as they are now, each {key, value}.'),
  called('clear(map: Map) => null', 'Removes all entries.'),
  called('notifyOnEviction(cache: Cache, topicName: String|null) => null', 'Publishes what the Cache lets go on a topic; null: no more.'),
  decided('compute(map: Map, key: Key, fn: Function) => any', 'Sets an entry to (k, v) => …; null removes it.'),
  decided('computeIfAbsent(map: Map, key: Key, fn: Function) => any', 'The value of an entry, else k => … is put there.'),
  decided('computeIfPresent(map: Map, key: Key, fn: Function) => any', 'Sets an entry that is there to (k, v) => …; null removes it.'),
  decided('merge(map: Map, key: Key, value: any, fn: Function) => any', 'Adds an entry, or sets it to (old, value) => …; null removes it.'),

  called('getValue(holder: Value) => any', 'What the Value holds.'),
  called('getValueOrDefault(holder: Value, defaultValue: any|null) => any', 'What the Value holds, or the default for null.'),
  called('setValue(holder: Value, value: any|null) => any', 'Sets the Value and gives what was set.'),
  decided('updateAndGet(holder: Value, fn: Function) => any', 'Sets the Value to v => …; the new one.'),
  decided('getAndUpdate(holder: Value, fn: Function) => any', 'Sets the Value to v => …; the old one.'),

  decided('synchronize(lock: Lock, fn: Function) => any', 'Calls the function while no other run has the Lock; its value.'),
];
