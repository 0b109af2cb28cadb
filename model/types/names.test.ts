import { expect, test } from 'vitest';
import type { CascadeError } from '../../stdlib/errors.ts';
import { checkName, idGenerator, isRuleVersion, type NameKind, newId, parseInterval } from './index.ts';

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

test('intervals are one literal, in any case, singular or plural', () => {
  const texts = ['1 second', ' 2  WEEKS ', '30 Days', '5 milliseconds', '1', 'soon', '1 month', '1 hour 30 minutes', '-1 day', '1day'];
  expect(texts.map(parseInterval)).toEqual([1000, 1_209_600_000, 2_592_000_000, 5, null, null, null, null, null, null]);
});

test('ids ascend through full seconds and a clock that goes back', () => {
  let now = 10_000;
  const next = idGenerator(7, () => now);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push(next());
  now = 5_000;
  ids.push(next());
  now = 11_000;
  ids.push(next());
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
  const next = idGenerator(1, () => 1000, 2);
  const ids = Array.from({ length: 3 }, () => next());
  expect(ids).toEqual(['000000010000000001000000', '000000010000000001000001', '000000020000000001000000']);
});

test('ids of this process ascend', () => {
  const ids = Array.from({ length: 1000 }, () => newId());
  expect([...new Set(ids)].sort()).toEqual(ids);
});
