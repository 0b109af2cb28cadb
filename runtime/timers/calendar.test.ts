import { expect, test } from 'vitest';
import { nextByCalendar } from './calendar.ts';
import { afterDelivery, afterNewPeriod, BadPattern, firstDelivery, NeverDue, Past, UnknownZone, Unplanned } from './index.ts';

const BERLIN = 'Europe/Berlin';
/** The times of a pattern after one, as many as are asked for, in UTC. */
function times(cron: string, zone: string, after: string, count: number): string[] {
  const found: string[] = [];
  for (let ms = Date.parse(after); found.length < count; found.push(new Date(ms).toISOString().slice(0, 16)))
    ms = nextByCalendar({ cron, zone }, ms);
  return found;
}

test.each([
  ['0 6 * * 1-5', 'UTC', '2027-01-01T06:00Z', ['2027-01-04T06:00', '2027-01-05T06:00']], // a Friday, at the time itself
  ['0 6 * * MON-FRI', BERLIN, '2027-07-02T05:00Z', ['2027-07-05T04:00']],
  ['*/20 * * JAN,feb *', 'UTC', '2027-02-28T23:30Z', ['2027-02-28T23:40', '2028-01-01T00:00']],
  ['@daily', 'America/New_York', '2027-01-01T00:00Z', ['2027-01-01T05:00', '2027-01-02T05:00']],
  ['@Weekly', 'UTC', '2027-01-01T00:00Z', ['2027-01-03T00:00']],
  ['0 0 13 * 5', 'UTC', '2027-01-01T00:00Z', ['2027-01-08T00:00', '2027-01-13T00:00']], // either of both
  ['0 0 13 * +5', 'UTC', '2027-01-01T00:00Z', ['2027-08-13T00:00']], // both
  ['0 0 L * *', 'UTC', '2027-02-01T00:00Z', ['2027-02-28T00:00', '2027-03-31T00:00']],
  ['0 0 * * FRI#2', 'UTC', '2027-01-01T00:00Z', ['2027-01-08T00:00', '2027-02-12T00:00']],
  ['0 0 29 2 +MON', 'UTC', '2072-03-01T00:00Z', ['2112-02-29T00:00']], // the longest wait that there is
])('%s in %s after %s', (cron, zone, after, expected) => {
  expect(times(cron, zone, after, expected.length)).toEqual(expected);
});

test.each([
  // 28 March 2027: 02:00 is followed by 03:00
  ['30 2 * * *', '2027-03-27T12:00Z', ['2027-03-28T01:00', '2027-03-29T00:30']], // 03:00
  ['30 2,14 * * *', '2027-03-27T20:00Z', ['2027-03-28T01:00', '2027-03-28T12:30']],
  ['0,30 2 * * *', '2027-03-27T12:00Z', ['2027-03-28T01:00', '2027-03-29T00:00']], // one for both
  ['*/30 2 * * *', '2027-03-27T12:00Z', ['2027-03-29T00:00']], // skipped
  ['0 * * * *', '2027-03-28T00:00Z', ['2027-03-28T01:00', '2027-03-28T02:00']],
  // 31 October 2027: 02:59 is followed by 02:00
  ['30 2 * * *', '2027-10-30T12:00Z', ['2027-10-31T00:30', '2027-11-01T01:30']], // the first of both
  [
    '*/30 2 * * *',
    '2027-10-30T12:00Z',
    ['2027-10-31T00:00', '2027-10-31T00:30', '2027-10-31T01:00', '2027-10-31T01:30', '2027-11-01T01:00'],
  ],
])('in Berlin, over a change of summer time, %s after %s', (cron, after, expected) => {
  expect(times(cron, BERLIN, after, expected.length)).toEqual(expected);
});

test.each([
  ['', 'not five fields'],
  ['0 6 * *', 'not five fields'],
  ['0 0 6 * * *', 'no seconds'],
  ['2027-01-01T00:00:00', 'not five fields'],
  ['2027-01-01T00:00:00 * * * *', 'illegal characters'],
  ['60 * * * *', 'Invalid value for minute: 60'],
  ['0 0 * * MON-', 'illegal upper range'],
  ['0 0 1 FOO *', 'illegal characters'],
  ['5/15 * * * *', 'stepping with numeric prefix'],
  ['@reboot', 'no such name'],
  ['@every 5m', 'not five fields'],
  ['0 0 1W,2W,3W,4W,5W,6W * *', 'more than 5 days'],
  [`${'0,'.repeat(100)}0 0 * * *`, 'longer than 200'],
])('the pattern %j is refused: %s', (cron, reason) => {
  const next = (): number => nextByCalendar({ cron, zone: 'UTC' }, 0);
  expect(next).toThrow(BadPattern);
  expect(next).toThrow(reason);
});

test.each(['Mars/Olympus', '', '+02:00', '-0530', 'Z', 'Europe/Berlin '])('the zone %j is refused', (zone) => {
  expect(() => nextByCalendar({ cron: '@daily', zone }, 0)).toThrow(UnknownZone);
});

test.each([
  ['0 0 30 2 *', 'UTC'],
  ['0 0 31 2,4,6,9,11 +1-6', 'UTC'],
  ['* * 1W,8W,15W,22W,29W * +SUN', 'UTC'], // a working day that is a Sunday
  ['* 2 * 3 +SUNL', BERLIN], // an hour that is skipped in each year
])('%s in %s never occurs, and that is found out soon', (cron, zone) => {
  const before = process.cpuUsage().user;
  expect(() => nextByCalendar({ cron, zone }, Date.UTC(2027, 0, 1))).toThrow(NeverDue);
  // A search of all years that croner knows takes 2 s for the last one.
  expect((process.cpuUsage().user - before) / 1_000).toBeLessThan(200);
});

test('the last year that there is has a last time', () => {
  expect(() => nextByCalendar({ cron: '@yearly', zone: 'UTC' }, Date.UTC(9999, 5))).toThrow(NeverDue);
});

const NOW = Date.UTC(2027, 0, 1, 10, 7);
const DAILY = { cron: '0 6 * * *', zone: 'UTC' };
const wanted = { periodic: true, intervalMs: null, calendar: DAILY, occursAtMs: null };

test('the calendar gives the first delivery, unless occursAt does, and the ones after it', () => {
  const six = (day: number): number => Date.UTC(2027, 0, day, 6);
  expect(firstDelivery(wanted, NOW, 'refused')).toEqual({ firstMs: six(2), period: DAILY });
  expect(firstDelivery({ ...wanted, occursAtMs: NOW + 5 }, NOW, 'refused').firstMs).toBe(NOW + 5);
  expect(() => firstDelivery({ ...wanted, occursAtMs: NOW - 5 }, NOW, 'refused')).toThrow(Past);
  expect(firstDelivery({ ...wanted, occursAtMs: NOW - 5 }, NOW, 'at once').firstMs).toBe(NOW - 5);
  expect(afterDelivery(six(2), DAILY, six(2) + 3)).toBe(six(3));
  expect(afterDelivery(six(2), DAILY, six(9) + 3)).toBe(six(10)); // many missed: one delivery, then the calendar
  expect(afterNewPeriod(six(1), DAILY, NOW)).toBe(six(2));
});

test.each([
  [{ ...wanted, periodic: false }, 'cron is for periodic events'],
  [{ ...wanted, intervalMs: 5_000 }, 'either interval or cron'],
])('%j does not say one thing', (schedule, reason) => {
  expect(() => firstDelivery(schedule, NOW, 'refused')).toThrow(Unplanned);
  expect(() => firstDelivery(schedule, NOW, 'refused')).toThrow(reason);
});
