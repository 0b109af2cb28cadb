import { expect, test } from 'vitest';
import { DateTime, real, type Value } from '../values/index.ts';
import { lookup } from './index.ts';
import { type Case, date, expectCases, testContext } from './testing/cases.ts';

const CONVERSION = { error: 'cascade.lang.conversion' };
const RANGE = { error: 'cascade.lang.range' };
const TYPE = { error: 'cascade.procedure.parameter.type' };
const d0 = date('2026-03-07T15:04:05.067Z');

expectCases('builtins.md 6.1', [
  ['now', [], d0],
  ['toDate', ['2026-03-07T15:04:05+02:00'], date('2026-03-07T13:04:05Z')],
  ['toDate', ['2026-03-07'], date('2026-03-07T00:00:00Z')],
  ['toDate', ['2026-03-07T15:04'], date('2026-03-07T15:04:00Z')],
  ['toDate', ['2026-03-07T15:04:05.123456789-0130'], date('2026-03-07T16:34:05.123Z')],
  ['toDate', ['7 March'], CONVERSION],
  ['toDate', ['2026-02-30'], CONVERSION],
  ['toDate', ['2026-03-07T24:00'], CONVERSION],
  ['toDate', [0], new DateTime(0)],
  ['toDate', [d0], d0],
  ['toDate', [real(5)], TYPE],
  ['parseDate', ['07/03/2026', 'dd/MM/yyyy'], date('2026-03-07')],
  ['parseDate', ['2026-03-07 16:30 +0100', 'yyyy-MM-dd HH:mm Z'], date('2026-03-07T15:30:00Z')],
  ['parseDate', ['3:05 PM', 'h:mm a'], date('1970-01-01T15:05:00Z')],
  ['parseDate', ['12:05 AM', 'h:mm a'], date('1970-01-01T00:05:00Z')],
  ['parseDate', ['2026-13-01', 'yyyy-MM-dd'], CONVERSION],
  ['parseDate', ['2026-02-29', 'yyyy-MM-dd'], CONVERSION],
  ['parseDate', ['2026-03-07 and more', 'yyyy-MM-dd'], date('2026-03-07')],
  ['parseDate', ['20260307', 'yyyyMMdd'], date('2026-03-07')],
  ['parseDate', ['26', 'yy'], date('2026-01-01')],
  ['parseDate', ['46', 'yy'], date('1946-01-01')],
  ['parseDate', ['45', 'yy'], date('2045-01-01')],
  ['parseDate', ['Sat 7 march 2026', 'EEE d MMM yyyy'], date('2026-03-07')],
  ['parseDate', ['Sun 7 Mar 2026', 'EEE d MMM yyyy'], CONVERSION],
  ['parseDate', ["7 o'clock", "h 'o''clock'"], date('1970-01-01T07:00:00Z')],
  ['parseDate', ['2026-066', 'yyyy-D'], date('2026-03-07')],
  ['parseDate', ['2026-03-07T15:04:05Z', "yyyy-MM-dd'T'HH:mm:ssX"], date('2026-03-07T15:04:05Z')],
  ['parseDate', ['2000-02-29', 'yyyy-MM-dd'], date('2000-02-29')],
  ['parseDate', ['1900-02-29', 'yyyy-MM-dd'], CONVERSION],
  ['parseDate', ['2000-366', 'yyyy-D'], date('2000-12-31')],
  ['parseDate', ['1900-366', 'yyyy-D'], CONVERSION],
  ['parseDate', ['2026 10', 'YYYY w'], date('2026-03-01')],
  ['parseDate', ['2026-W10-6', "YYYY-'W'w-u"], date('2026-03-07')],
  ['parseDate', ['2026 1', 'YYYY w'], date('2025-12-28')],
  ['parseDate', ['2025 1 Mon', 'yyyy w E'], date('2025-12-29')],
  ['parseDate', ['2026 53', 'yyyy w'], CONVERSION],
  ['parseDate', ['2026-03-07 11', 'yyyy-MM-dd w'], CONVERSION],
  ['parseDate', ['2026 March 2 Sat', 'yyyy MMMM W E'], date('2026-03-14')],
  ['parseDate', ['2026 March 6', 'yyyy MMMM W'], CONVERSION],
  ['parseDate', ['2026-03 2nd Tue', "yyyy-MM F'nd' E"], date('2026-03-10')],
  ['parseDate', ['2026-02 5 Tue', 'yyyy-MM F E'], CONVERSION],
  ['parseDate', ['2026-12-31', 'YYYY-MM-dd'], date('2026-12-31')],
  ...['z', 'Z', 'X'].flatMap((letter): Case[] => [
    ['parseDate', ['12:00 +01:59', `HH:mm ${letter}`], date('1970-01-01T10:01:00Z')],
    ['parseDate', ['12:00 -0130', `HH:mm ${letter}`], date('1970-01-01T13:30:00Z')],
    ['parseDate', ['12:00 +23', `HH:mm ${letter}`], date('1969-12-31T13:00:00Z')],
    ['parseDate', ['12:00 gmt+02:00', `HH:mm ${letter}`], date('1970-01-01T10:00:00Z')],
    ['parseDate', ['12:00 UTC', `HH:mm ${letter}`], date('1970-01-01T12:00:00Z')],
    ['parseDate', ['12:00 Z', `HH:mm ${letter}`], date('1970-01-01T12:00:00Z')],
    ['parseDate', ['12:00 Z+01:00', `HH:mm ${letter}`], date('1970-01-01T12:00:00Z')],
    ['parseDate', ['12:00 +01:60', `HH:mm ${letter}`], CONVERSION],
    ['parseDate', ['12:00 +24', `HH:mm ${letter}`], CONVERSION],
    ['parseDate', ['12:00 x', `HH:mm ${letter}`], CONVERSION],
  ]),
  ['parseDate', ['7 ad 2026', 'd G y'], date('2026-01-07')],
  ['parseDate', ['7 BC 2026', 'd G y'], CONVERSION],
  ['parseDate', ['3 xm', 'h a'], CONVERSION],
  ['parseDate', ['3 pm', 'K a'], date('1970-01-01T15:00:00Z')],
  ['parseDate', ['24:10', 'k:mm'], date('1970-01-01T00:10:00Z')],
  ['parseDate', ['7', 'H'], date('1970-01-01T07:00:00Z')],
  ['parseDate', ['x7', "'y'd"], CONVERSION],
  ['parseDate', ['Foo', 'EEE'], CONVERSION],
  ['parseDate', ['Foo', 'MMM'], CONVERSION],
  ['parseDate', ['Thursday', 'EEEE'], date('1970-01-01')],
  ['parseDate', ['4', 'u'], date('1970-01-01')],
  ['parseDate', ['5', 'u'], CONVERSION],
  ['parseDate', ['x', 'd'], CONVERSION],
  ['parseDate', ['0', 'd'], CONVERSION],
  ['parseDate', ['0000', 'yyyy'], CONVERSION],
  ['parseDate', ['10000', 'yyyy'], CONVERSION],
  ['parseDate', ['x', 'bbb'], { error: 'cascade.builtin.pattern' }],
  ['date', [d0], 1_772_895_845_067],
  ['getTime', [d0], 1_772_895_845_067],
  ['getTime', ['1970-01-01'], 0],
  ['toInteger', [d0], 1_772_895_845_067],
  ['toEpochMilli', [d0], 1_772_895_845_067],
  ['toString', [new DateTime(0)], '1970-01-01T00:00:00.000Z'],
]);

expectCases('builtins.md 6.2', [
  ['date', [d0, 'date', 'ISO'], '2026-03-07T15:04:05.067Z'],
  ['date', [d0, 'date', 'epochDays'], 20_519],
  ['date', [-1500, 'epochMicroseconds', 'ISO'], '1969-12-31T23:59:59.998Z'],
  ['date', [5, 'date', 'ISO'], '1970-01-01T00:00:00.005Z'],
  ['date', [' 2026-01-01 ', 'ISO', 'epochDays'], 20_454],
  ['date', ['x', 'ISO', 'date'], CONVERSION],
  ['date', [9_007_199_254_740_991, 'epochDays', 'date'], CONVERSION],
  ['date', [d0, 'date'], { error: 'cascade.procedure.parameter.missing', params: ['date', 'destinationRepresentation'] }],
  ['date', [true, 'date', 'ISO'], { ...TYPE, params: ['date', 'value', 'DateTime', 'Boolean'] }],
  ['date', [5, 'ISO', 'date'], { ...TYPE, params: ['date', 'value', 'String', 'Integer'] }],
  ['date', ['x', 'epochDays', 'date'], { ...TYPE, params: ['date', 'value', 'Integer', 'String'] }],
  ['date', [d0, 'date', 'years'], { ...RANGE, params: ['representation', 'years'] }],
  ['date', [d0, 'date', 'epochHours'], 492_471],
  ['date', [d0, 'date', 'epochMinutes'], 29_548_264],
  ['date', [d0, 'date', 'epochSeconds'], 1_772_895_845],
  ['date', [d0, 'date', 'epochMicroseconds'], 1_772_895_845_067_000],
  ['date', [20_519, 'epochDays', 'ISO'], '2026-03-07T00:00:00.000Z'],
  ['date', [1_772_895_845_067, 'epochMilliseconds', 'epochDays'], 20_519],
  ['date', [-1, 'epochMilliseconds', 'epochDays'], -1],
  ['date', [1.9, 'epochDays', 'ISO'], '1970-01-02T00:00:00.000Z'],
  ['date', ['2026-03-07T15:04:05Z', 'ISO', 'date'], date('2026-03-07T15:04:05Z')],
  ['date', ['9999-12-31', 'ISO', 'epochMicroseconds'], 253_402_214_400_000_000n],
  ['date', [1, 'weeks', 'ISO'], RANGE],
  ['date', [1, 'toString', 'ISO'], RANGE],
  ['date', [1, 'ISO', 'date'], TYPE],
  ['date', ['x', 'ISO', 'date'], CONVERSION],
  ['date', [null, 'ISO', 'date'], { error: 'cascade.lang.null' }],
]);

expectCases('builtins.md 6.3', [
  ['getMilliseconds', [d0], 67],
  ['getSeconds', [d0], 5],
  ['getMinutes', [d0], 4],
  ['getHours', [d0], 15],
  ['getDate', [d0], 7],
  ['getMonth', [d0], 3],
  ['getFullYear', [d0], 2026],
  ['year', [d0], 2026],
  ['getDay', [d0], 6],
  ['DoW', [d0], 6],
  ['DoW', [date('2026-03-08')], 7],
  ['DoW', [date('1969-12-29')], 1],
  ['week', [d0], 10],
  ['week', [date('2027-01-01')], 53],
  ['week', [date('2024-12-30')], 1],
  ['HoW', [d0], 135],
  ['MoW', [d0], 8104],
  ['DoY', [d0], 66],
  ['MoD', [d0], 904],
  ['SoD', [d0], 54_245],
  ['SoH', [d0], 245],
  ['getHours', ['noon'], TYPE],
]);

expectCases('builtins.md 6.4', [
  ['plusMillis', [d0, 172_800_000], date('2026-03-09T15:04:05.067Z')],
  ['minusMillis', [new DateTime(0), 1000], date('1969-12-31T23:59:59Z')],
  ['plusMillis', [d0, 2n ** 60n], { error: 'cascade.lang.arithmetic.overflow' }],
  ['plusSeconds', [new DateTime(0), 2], new DateTime(2000)],
  ['minusSeconds', [new DateTime(0), 2], new DateTime(-2000)],
  ['isBefore', [new DateTime(0), d0], true],
  ['isAfter', [new DateTime(0), d0], false],
  ['equals', [d0, d0], true],
  ['equals', [d0, null], false],
  ['getEpochSecond', [new DateTime(-1)], -1],
  ['truncateTo', [d0, 'HOURS'], date('2026-03-07T15:00:00Z')],
  ['truncateTo', [d0, 'half_days'], date('2026-03-07T12:00:00Z')],
  ['truncateTo', [new DateTime(-1), 'DAYS'], date('1969-12-31')],
  ['truncateTo', [d0, 'WEEKS'], RANGE],
  ['addMonth', [date('2026-01-31'), 1], date('2026-02-28')],
  ['addMonth', [date('2026-04-30'), 1], date('2026-05-30')],
  ['addMonth', [date('2026-04-30'), 1, true], date('2026-05-31')],
  ['addMonth', [date('2026-03-31'), -1], date('2026-02-28')],
  ['addMonth', [date('2026-01-15'), -13], date('2024-12-15')],
  ['addYear', [date('2028-02-29'), 1], date('2029-02-28')],
  ['addYear', [date('2027-02-28'), 1, true], date('2028-02-29')],
  ['addYear', [date('2027-02-28'), 9000], { error: 'cascade.lang.arithmetic.overflow' }],
]);

expectCases('builtins.md 6.5', [
  ['stringToInterval', ['1 second'], 1000],
  ['stringToInterval', ['2 weeks'], 1_209_600_000],
  ['stringToInterval', [' 3  Minutes '], 180_000],
  ['stringToInterval', ['soon'], CONVERSION],
  ['stringToInterval', ['1 month'], CONVERSION],
  ['durationInMillis', ['P1D'], 86_400_000],
  ['durationInMillis', ['PT1H30M'], 5_400_000],
  ['durationInMillis', ['PT0.5S'], 500],
  ['durationInMillis', ['P1DT2H'], 93_600_000],
  ['durationInMillis', ['-PT5M'], -300_000],
  ['durationInMillis', ['p2w'], 1_209_600_000],
  ['durationInMillis', ['-PT0S'], 0],
  ['durationInMillis', ['P1M'], CONVERSION],
  ['durationInMillis', ['1D'], CONVERSION],
  ['durationInMillis', ['P'], CONVERSION],
  ['durationInMillis', ['P1DT'], CONVERSION],
]);

expectCases('builtins.md 6.6', [
  ['timezoneOffset', ['America/New_York', date('2026-07-01')], '-04:00'],
  ['timezoneOffset', ['America/Los_Angeles', d0], '-08:00'],
  ['timezoneOffset', ['Asia/Kolkata', d0], '+05:30'],
  ['timezoneOffset', ['UTC', d0], 'Z'],
  ['timezoneOffset', ['Europe/London'], 'Z'],
  ['timezoneOffset', ['Mars/Olympus', d0], RANGE],
]);

test('builtins.md 6.6: the zones are sorted and hold Europe/Paris', () => {
  const zones = lookup('getZoneIds')?.call(testContext(), []) as Value[];
  expect([zones.includes('Europe/Paris'), zones.includes('UTC'), [...zones].sort()]).toEqual([true, true, zones]);
});

test('builtins.md 6.1: what is written by weeks is read again', () => {
  const format = lookup('format');
  const parse = lookup('parseDate');
  for (const pattern of ['YYYY-w-E', 'yyyy-MM-w-u', 'yyyy-MM-W-u', 'yyyy-MM-F-u', 'YYYY-w-dd', 'yyyy-D-w'])
    for (let day = Date.UTC(2019, 11, 20); day < Date.UTC(2022, 0, 20); day += 86_400_000) {
      const text = format?.call(testContext(), [`{0,date,${pattern}}`, new DateTime(day)]) as Value;
      expect(parse?.call(testContext(), [text, pattern]), `${String(text)} ${pattern}`).toEqual(new DateTime(day));
    }
});
