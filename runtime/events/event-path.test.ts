// resources-and-api.md 8.4: which paths can be listened to, and their one spelling.
import { expect, test } from 'vitest';
import { parseEventPath } from './event-path.ts';

test.each([
  ['/topics/plant/7', '/topics/plant/7/publish'],
  ['/topics/plant/7/publish', '/topics/plant/7/publish'],
  ['/topics//plant/7', '/topics/plant/7/publish'],
  ['/topics//plant/7/publish', '/topics/plant/7/publish'],
  ['/types/Pump/insert', '/types/Pump/insert'],
  ['/types/plant.Pump/delete', '/types/plant.Pump/delete'],
  ['/types/system.topics/update', '/types/system.topics/update'],
  ['/sources/mqtt', '/sources/mqtt/publish'],
  ['/sources/mqtt/receive', '/sources/mqtt/publish'],
  ['/inbox/phone', '/inbox/phone'],
  ['/services/Metrics/done', '/services/Metrics/done'],
  ['/services//Metrics/done', '/services/Metrics/done'],
])('%s is listened to as %s', (written, path) => {
  expect(parseEventPath(written).path).toBe(path);
});

test.each([
  ['', 'cascade.event.path.invalid'],
  ['/', 'cascade.event.path.invalid'],
  ['topics/a', 'cascade.event.path.invalid'],
  ['/topics', 'cascade.event.path.invalid'],
  ['/types/Pump', 'cascade.event.path.invalid'],
  ['/types/Pump/select', 'cascade.event.path.invalid'],
  ['/types/Pump/insert/1', 'cascade.event.path.invalid'],
  ['/services/Metrics', 'cascade.event.path.invalid'],
  ['/nonsense/a', 'cascade.event.path.invalid'],
  ['/topics/a b', 'cascade.topic.name.invalid'],
  ['/topics/a/#', 'cascade.topic.name.invalid'],
  ['/inbox/phone/more', 'cascade.event.path.invalid'],
  [`/users/${'a'.repeat(1_000)}/authenticationSuccess`, 'cascade.event.path.invalid'],
])('%s is refused with %s', (written, code) => {
  expect(() => parseEventPath(written)).toThrow(expect.objectContaining({ code }));
});

test('a path that is too long is shown in part, cut between characters', () => {
  const [shown, path] = [`/users/${'a'.repeat(92)}`, '😀'.repeat(500)];
  expect(() => parseEventPath(shown + path)).toThrow(expect.objectContaining({ params: [`${shown}…`] }));
});
