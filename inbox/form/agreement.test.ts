// Page and service agree on what is valid: what one takes the other one takes, and a field that nobody touched is sent as it is shown.
import { expect, test } from 'vitest';
import { answerOf } from '../../features/notifications/form-answer.ts';
import { checkForm } from '../../features/notifications/payload-form.ts';
import { CascadeError, CascadeErrors } from '../../model/errors/index.ts';
import { parseJson, toJson } from '../../model/values/index.ts';
import { type ObjectValue, parseDateTime } from '../../stdlib/values/index.ts';
import { problemsOf } from './check.ts';
import { fieldsOf, hasValue, presetOf } from './form.ts';
import { readJson, writeJson } from './json.ts';
import { timeOf } from './times.ts';
import { FIELD_TYPES, type Json, type JsonObject } from './types.ts';

const UUID = '00000000-0000-4000-8000-00000000000a';
const CHOICES = [
  'x',
  '',
  { label: 'One', value: 1 },
  { label: 'Long', value: 9_007_199_254_740_993n },
  { label: 'Text', value: '1' },
  { label: 'None', value: '' },
];
const LONG = [9_007_199_254_740_992n, 9_007_199_254_740_993n, 9_007_199_254_740_994n, -9_007_199_254_740_993n, -9_007_199_254_740_994n];
const WITH: readonly object[] = [
  ...[{}, { optional: true }, { optional: null }, { maxLength: 3 }, { maxLength: null }, { flavor: 'multiline', maxLength: 2 }],
  ...['x', 5, 9_007_199_254_740_993n, 0, true, null, '2031-02-03T23:30', '2031-02-03T00:30', '2031-02-03', ''].map((preset) => ({
    default: preset,
  })),
  ...[
    { longitude: 1, latitude: 2, also: 1 },
    { type: 'Point', coordinates: [3, 4] },
  ].map((preset) => ({ default: preset })),
  ...[{ flavor: 'slider' }, { flavor: 'slider', minValue: 10, maxValue: 20 }, { flavor: 'slider', default: null, optional: true }],
  ...[{ minValue: -1.5, maxValue: 1.5 }, { minValue: 10 }, { minValue: null, maxValue: null }, { minValue: -1e308, maxValue: 1e308 }],
  ...[
    { minValue: -9_007_199_254_740_993n, maxValue: 9_007_199_254_740_993n },
    { flavor: 'slider', minValue: 9_007_199_254_740_993n, maxValue: 2n ** 63n - 1n },
  ],
];
const VALUES: Json[] = [
  ...[
    null,
    '',
    ' ',
    'x',
    'abcd',
    '\u{1F600}\u{1F600}',
    '1',
    0,
    1,
    -1,
    1.5,
    100,
    101,
    -0.1,
    1e21,
    9007199254740991,
    true,
    ...LONG,
    false,
    [],
    ['x'],
  ],
  ...['2031-02-03', '2031-02-30', '2031-02-03T12:30:00.000Z', '2031-02-03T12:30', '12031-02-03', '+012031-02-03T00:00Z', '0000-01-01'],
  ...[{ longitude: 1, latitude: 2 }, { longitude: 181, latitude: 2 }, { longitude: 1 }, { type: 'Point', coordinates: [1, 91] }],
  ...['image/1.jpg', `image/${UUID}.jpg`, `audio/${UUID}.m4a`, `video/${UUID}.mp4`].map((name) => `rcs/${name}`),
];
const FIELDS = FIELD_TYPES.flatMap((type) =>
  WITH.flatMap((also): JsonObject[] => {
    const field = { type, id: 'a', ...(also as JsonObject) };
    const isChoice = type === 'droplist' || type === 'radioButtons';
    return isChoice ? [CHOICES.slice(0, 2), CHOICES.slice(2)].map((values) => ({ ...field, values })) : [field];
  }),
).filter((field) => isTaken(() => checkForm(parseJson(writeJson({ responseTopic: '/a/b', fields: [field] })))));

function isTaken(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** What is sent for the field; undefined: the service refuses it. */
async function sent(field: JsonObject, values: JsonObject): Promise<Json | undefined> {
  const inner = (value: Json) => parseJson(writeJson(value)) as ObjectValue;
  const entered = { submitValue: null, values: inner(values), location: null, now: 0, hasDocument: () => Promise.resolve(true) };
  try {
    const { values: all } = await answerOf(inner({ fields: [field] }), entered);
    return (readJson(toJson(all)) as JsonObject)['a'] ?? null;
  } catch (error) {
    if (error instanceof CascadeError || error instanceof CascadeErrors) return undefined;
    throw error;
  }
}

const isFine = (field: JsonObject, values: JsonObject): boolean => problemsOf(fieldsOf({ fields: [field] }), values).size === 0;

test('integrations.md 8.4: what is entered is taken by both or by none', async () => {
  const differing: unknown[] = [];
  for (const field of FIELDS)
    for (const values of [{}, ...VALUES.map((a) => ({ a }))])
      if (isFine(field, values) !== ((await sent(field, values)) !== undefined)) differing.push([field, values]);
  expect(differing).toEqual([]);
});

test('integrations.md 8.4: what nobody touched is sent as it is shown', async () => {
  for (const field of FIELDS.filter(({ type }) => type !== 'currentDateTime'))
    for (const shown of fieldsOf({ fields: [field] }))
      if (hasValue(shown) && isFine(field, {})) expect([field, await sent(field, {})]).toEqual([field, presetOf(shown)]);
});

test.each([
  ...['2031-02-03', '2031-02-03T23:30', '2031-02-03T23:30:15', '2031-02-03T23:30:15.1239', '2031-02-03T23:30Z', '2031-02-03T23:30-05:00'],
  ...['2031-02-03T23:30+0530', '2031-02-03T23:30+05', '2031-02-03Z', '2031-02-30', '2032-02-29', '2031-02-29', '2031-13-01', '2031-00-01'],
  ...[
    '2031-02-03T24:00',
    '2031-02-03T23:60',
    '2031-02-03T23:30:60Z',
    '0000-12-31',
    '0001-01-01',
    '0001-01-01T00:00+01:00',
    '9999-12-31T23:59-01:00',
  ],
  ...['9999-12-31', '12031-02-03', '+012031-02-03T00:00Z', '2031-02-03T23:30+24:00', '2031-02-03T23:30+05:60', '2031-2-3', 'next week', ''],
  ...['2031-02-03 23:30', '3 Feb 2031', '2031-02-03T23', '2031-02-03T23:30:15.1234567890'],
])('%j is the time that it is to the service', (text) => {
  expect(timeOf(text)?.getTime()).toBe(parseDateTime(text)?.ms);
});
