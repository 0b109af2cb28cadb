import { expect, test } from 'vitest';
import { contrast, PAPER, readable } from './colors.ts';
import { fitting, mediaIn, problemsIn, problemsOf } from './check.ts';
import { choicesOf, fieldsOf, footerButtons, hasValue, isRequired, placeOf, presetOf, shownValue } from './form.ts';
import { type Entered, FIELD_TYPES, type Json } from './types.ts';

const form = (...fields: Json[]) => fieldsOf({ fields });
const problems = (field: Json, entered: Entered) => [...problemsOf(form(field), entered)];

test('24 types are known; others, and what is no field, are left out', () => {
  expect(FIELD_TYPES).toHaveLength(24);
  expect(form({ type: 'hologram' }, { type: 'constructor' }, 5, null, { id: 'a' }, { type: 'text', text: 'x' })).toHaveLength(1);
  expect(fieldsOf({ fields: 'none' })).toEqual([]);
});

test.each<[Json, boolean, boolean]>([
  [{ type: 'inputString', id: 's' }, true, true],
  [{ type: 'inputString', id: 's', optional: true }, true, false],
  [{ type: 'inputString', id: 's', default: 'x' }, true, false],
  [{ type: 'inputString', id: 's', default: null }, true, true],
  [{ type: 'camera', id: 'c', default: 'rcs/image/x.jpg' }, true, true],
  [{ type: 'checkbox', id: 'c' }, true, false],
  [{ type: 'inputInteger', id: 'n', flavor: 'slider' }, true, false],
  [{ type: 'inputInteger', id: 'n' }, true, true],
  [{ type: 'currentLocation', id: 'l' }, true, false],
  [{ type: 'map' }, false, false],
  [{ type: 'map', id: 'm' }, true, true],
  [{ type: 'text', text: 'x', id: 't' }, false, false],
])('%j has a value: %s, is required: %s', (field, value, required) => {
  const [read] = form(field);
  expect([hasValue(read!), isRequired(read!)]).toEqual([value, required]);
});

test.each<[Json, Json]>([
  [{ type: 'date', id: 'd', default: '2031-02-03T23:30:00-05:00' }, '2031-02-04'],
  [{ type: 'datetime', id: 'd', default: '2031-02-03' }, '2031-02-03T00:00:00.000Z'],
  [{ type: 'date', id: 'd', default: 'next week' }, null],
  [{ type: 'checkbox', id: 'c' }, false],
  [{ type: 'checkbox', id: 'c', default: true }, true],
  [{ type: 'inputInteger', id: 'n', flavor: 'slider', minValue: 10, maxValue: 20 }, 10],
  [
    { type: 'map', id: 'm', default: { type: 'Point', coordinates: [1, 2] } },
    { longitude: 1, latitude: 2 },
  ],
  [{ type: 'droplist', id: 'd', values: ['x'], default: 'x' }, 'x'],
  [{ type: 'inputString', id: 's' }, null],
])('%j shows at first %j', (field, shown) => {
  expect(presetOf(form(field)[0]!)).toEqual(shown);
});

test.each<[Json, Json, unknown]>([
  [{ type: 'inputInteger', id: 'a' }, 4, null],
  [{ type: 'inputInteger', id: 'a' }, 4.5, { kind: 'type' }],
  [{ type: 'inputInteger', id: 'a' }, '4x', { kind: 'type' }],
  [{ type: 'inputInteger', id: 'a' }, 101, { kind: 'range', least: 0, most: 100 }],
  [{ type: 'inputReal', id: 'a', minValue: -1, maxValue: 1 }, -1.01, { kind: 'range', least: -1, most: 1 }],
  [{ type: 'inputString', id: 'a', maxLength: 3 }, 'abcd', { kind: 'length', most: 3 }],
  [{ type: 'inputString', id: 'a' }, '', { kind: 'missing' }],
  [{ type: 'inputString', id: 'a', optional: true }, null, null],
  [{ type: 'inputString', id: 'a', default: 'x' }, null, null],
  [{ type: 'droplist', id: 'a', values: ['x'] }, 'y', { kind: 'choice' }],
  [{ type: 'droplist', id: 'a', values: [{ label: 'One', value: 1 }] }, 1, null],
  [{ type: 'date', id: 'a' }, '2031-13-01', { kind: 'type' }],
  [{ type: 'map', id: 'a' }, { longitude: 1 }, { kind: 'type' }],
  [{ type: 'camera', id: 'a' }, null, { kind: 'missing' }],
])('%j with %j: %j', (field, value, problem) => {
  expect(problems(field, { a: value })).toEqual(problem === null ? [] : [['a', problem]]);
});

test('a field that nobody touched counts with what it shows', () => {
  const [field] = form({ type: 'droplist', id: 'constructor', values: ['x'], default: 'x' });
  expect(shownValue(field!, {})).toBe('x');
  expect(problems({ type: 'inputString', id: 'toString' }, {})).toEqual([['toString', { kind: 'missing' }]]);
});

test('of a draft remains what fits the form that took its place', () => {
  const fields = form({ type: 'inputInteger', id: 'n' }, { type: 'inputString', id: 's' });
  expect(fitting(fields, { n: 'four', s: 'text', gone: 1 })).toEqual({ s: 'text' });
});

test('buttons: a form without any has one; inline ones take its place; a cluster does not', () => {
  expect(footerButtons(form())).toEqual([{ label: '', value: 0 }]);
  expect(footerButtons(form({ type: 'inlineButton', buttonLabel: 'x', value: 1 }))).toEqual([]);
  expect(footerButtons(form({ type: 'buttonCluster', values: [{ label: 'x', value: 1 }] }))).toEqual([{ label: '', value: 0 }]);
  expect(footerButtons(form({ type: 'footerButton', buttonLabel: 'Go', value: 2 }))).toEqual([{ label: 'Go', value: 2 }]);
  expect(choicesOf(form({ type: 'buttonCluster', values: [{ label: 'x', value: 1 }, 5] })[0]!)).toEqual([{ label: 'x', value: 1 }]);
});

test('documents are found among what was entered', () => {
  const fields = form({ type: 'camera', id: 'p' }, { type: 'inputString', id: 's' }, { type: 'video', id: 'v' });
  expect(mediaIn(fields, { p: 'rcs/image/1.jpg', s: 'rcs/image/2.jpg', v: null })).toEqual(['rcs/image/1.jpg']);
  expect(placeOf('here')).toBeNull();
});

test('every colour can be read on light and dark ground', () => {
  for (const ground of [...Object.values(PAPER), '#808080', '#ff0000'])
    for (const color of ['#000000', '#ffffff', '#777777', '#ffff00', '#0000ff', 'no colour'])
      expect([color, ground, contrast(readable(color, ground), ground) >= 4.5]).toEqual([color, ground, true]);
  expect(readable('#0b5cad', '#ffffff')).toBe('#0b5cad');
});

test.each<[Json, string, unknown]>([
  [{ type: 'inputString', id: 'a' }, 'missing', { kind: 'missing' }],
  [{ type: 'inputString', id: 'a', maxLength: 3 }, 'length', { kind: 'length', most: 3 }],
  [{ type: 'inputInteger', id: 'a', minValue: 2 }, 'range', { kind: 'range', least: 2, most: 100 }],
  [{ type: 'droplist', id: 'a', values: ['x'] }, 'values', { kind: 'choice' }],
  [{ type: 'camera', id: 'a' }, 'document', { kind: 'media' }],
  [{ type: 'camera', id: 'a' }, 'missing', { kind: 'missing' }],
  [{ type: 'date', id: 'a' }, 'type', { kind: 'type' }],
  [{ type: 'date', id: 'a' }, 'of a later service', { kind: 'type' }],
])('%j that the service refuses by "%s" is shown as that', (field, reason, problem) => {
  expect([
    ...problemsIn(form(field, { type: 'date', id: 'other' }), [
      { id: 'a', reason },
      { id: 'gone', reason: 'type' },
    ]),
  ]).toEqual([['a', problem]]);
});
