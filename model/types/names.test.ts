import { expect, test } from 'vitest';
import type { CascadeError } from '../../stdlib/errors.ts';
import { baseNameOf, checkName, IdGenerator, isRuleVersion, type NameKind, newId, ownershipOf, parseInterval } from './index.ts';

const codeOf = (kind: NameKind, name: string): string => {
  try {
    checkName(kind, name);
    return 'ok';
  } catch (error) {
    return (error as CascadeError).code.replace('cascade.', '');
  }
};

const rows: [kind: NameKind, name: string, code: string][] = [
  ['type', 'Pump', 'ok'],
  ['type', 'plant.Pump_2', 'ok'],
  ['type', 'Pump-2', 'resource.name.invalid'],
  ['type', 'a'.repeat(128), 'ok'],
  ['type', 'a'.repeat(129), 'resource.name.invalid'],
  ['type', 'Arsenal', 'type.name.reserved'],
  ['type', 'system.Pump', 'type.name.reserved'],
  ['type', 'GeoJSON', 'type.name.reserved'],
  ['type', 'scheduledevents', 'type.name.reserved'],
  ['rule', 'lowSilo', 'ok'],
  ['rule', 'ars_low', 'resource.name.reserved'],
  ['procedure', 'Dosing.start', 'ok'],
  ['procedure', 'Dosing..start', 'resource.name.invalid'],
  ['procedure', 'system.start', 'resource.name.reserved'],
  ['procedure', 'Dosing.ars_start', 'resource.name.reserved'],
  ['source', '_gate', 'ok'],
  ['profile', 'night_shift', 'ok'],
  ['profile', 'night.shift', 'resource.name.invalid'],
  ['group', 'night shift-2.b', 'ok'],
  ['group', ' night', 'resource.name.invalid'],
  ['property', 'a_b2', 'ok'],
  ['property', '_a', 'type.property.name.reserved'],
  ['property', 'ars_a', 'type.property.name.reserved'],
  ['property', '2a', 'type.property.name.invalid'],
  ['property', '', 'type.property.name.invalid'],
  ['namespace', '2north', 'ok'],
  ['namespace', 'n'.repeat(65), 'resource.name.invalid'],
  ['user', 'ann@plant.example', 'ok'],
  ['user', 'ann@', 'user.name.invalid'],
  ['user', '', 'user.name.invalid'],
  ['topic', '/plant/7', 'ok'],
  ['topic', '/typewriter', 'ok'],
  ['topic', '/types/x', 'topic.name.reserved'],
  ['topic', 'plant', 'topic.name.invalid'],
  ['topic', '/plant/', 'topic.name.invalid'],
  ['topic', '/plant//a', 'topic.name.invalid'],
  ['topic', '/a/publish', 'topic.name.invalid'],
  ['document', 'assets/a b.txt', 'ok'],
  ['document', '/a', 'document.name.invalid'],
  ['document', 'a/../b', 'document.name.invalid'],
  ['document', 'a..b', 'ok'],
  ['document', 'ä'.repeat(513), 'document.name.invalid'],
  ['document', 'system/a', 'document.name.reserved'],
];
for (const [kind, name, code] of rows) {
  test(`${kind} ${name.length > 40 ? `of ${name.length}` : JSON.stringify(name)}: ${code}`, () => expect(codeOf(kind, name)).toBe(code));
}

test('versions of rules', () => {
  expect(['1.0-beta_2', 'x', '', 'a b', 'a:b'].map(isRuleVersion)).toEqual([true, true, false, false, false]);
});

test('V2 all versions of a rule have its name', () => {
  expect(['low', 'low:1.0', 'plant.low:a_b'].map(baseNameOf)).toEqual(['low', 'low', 'plant.low']);
});

test('intervals are one literal, in any case, singular or plural', () => {
  const texts = ['1 second', ' 2  WEEKS ', '30 Days', '5 milliseconds', '1', 'soon', '1 month', '1 hour 30 minutes', '-1 day', '1day'];
  expect(texts.map(parseInterval)).toEqual([1000, 1_209_600_000, 2_592_000_000, 5, null, null, null, null, null, null]);
});

test('ids ascend through full seconds and a clock that goes back', () => {
  let now = 10_000;
  const generator = new IdGenerator(7, () => now);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push(generator.next());
  now = 5_000;
  ids.push(generator.next());
  now = 11_000;
  ids.push(generator.next());
  expect(ids).toEqual([
    '0000000a0000000007000000',
    '0000000a0000000007000001',
    '0000000a0000000007000002',
    '0000000a0000000007000003',
    '0000000b0000000007000000',
  ]);
  expect([...ids].sort()).toEqual(ids);
});

test('a full counter borrows from the next second', () => {
  const generator = new IdGenerator(1, () => 1000, 2);
  const ids = Array.from({ length: 3 }, () => generator.next());
  expect(ids).toEqual(['000000010000000001000000', '000000010000000001000001', '000000020000000001000000']);
});

test('ids of the next owner are above those of the former one, whichever process started first and whichever clock is ahead', () => {
  const older = new IdGenerator(1, () => 9_999);
  const newer = new IdGenerator(2, () => 10_001);
  const ids: string[] = [];
  for (const [owner, former, epoch] of [
    [newer, older, 3],
    [older, newer, 4],
    [newer, older, 5],
    [older, newer, 6],
  ] as const) {
    owner.follow(former.second, epoch);
    ids.push(owner.next(), owner.next());
  }
  expect([...new Set(ids)].sort()).toEqual(ids);
  // In one second they are told apart by the epoch.
  expect(ids.map((id) => id.slice(0, 18)).slice(2, 4)).toEqual(['0000000a0000000004', '0000000a0000000004']);
});

test('a process that acquires further namespaces goes on with ascending ids', () => {
  const generator = new IdGenerator(1, () => 10_000);
  const ids: string[] = [];
  for (const [second, epoch] of [
    [0, 2],
    [9, 3],
    [10, 4],
    [12, 5],
    [11, 6],
  ] as const) {
    generator.follow(second, epoch);
    ids.push(generator.next(), generator.next());
  }
  expect([...new Set(ids)].sort()).toEqual(ids);
});

test('ids of this process ascend', () => {
  const ids = Array.from({ length: 1000 }, () => newId());
  expect([...new Set(ids)].sort()).toEqual(ids);
});

test('two installations give no id alike, and the owners of one give ascending ones', () => {
  const [first, second] = ['6f2a91d3-7c01-4b8e-9d55-0c1f22aa9e01', 'e8b05c44-19d7-4a32-8f60-5d3e7b90c112'] as const;
  const idOf = (uuid: string, epoch: number): string => new IdGenerator(ownershipOf(uuid, epoch), () => 1000).next();
  expect(idOf(first, 1)).not.toBe(idOf(second, 1));
  expect(idOf(first, 1)).toMatch(/^[0-9a-f]{24}$/);
  for (const uuid of [first, second, 'ffffffff-ffff-4fff-8fff-ffffffffffff'])
    expect(idOf(uuid, 1) < idOf(uuid, 2) && idOf(uuid, 2) < idOf(uuid, 1_000_000_000)).toBe(true);
});
