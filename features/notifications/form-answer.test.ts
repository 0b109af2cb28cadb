// Answers to forms (integrations.md 8.4, 8.6).
import { expect, test } from 'vitest';
import { isObject, type ObjectValue, parseJsonText } from '../../stdlib/values/index.ts';
import { CascadeError, CascadeErrors } from '../../model/errors/api-errors.ts';
import { toJson } from '../../model/values/index.ts';
import { answerOf } from './form-answer.ts';

const object = (text: string): ObjectValue => {
  const value = parseJsonText(text);
  if (!isObject(value)) throw new Error(`${text} is no object`);
  return value;
};

const PHOTO = 'rcs/image/0b8e2a4c-3d5f-4e6a-9b7c-1d2e3f4a5b6c.jpg';

/** The values of the answer, or its error: the end of the code and the params. */
async function answered(fields: string, values: string, submit = 'null', location = 'null'): Promise<string> {
  try {
    const answer = await answerOf(object(`{"responseTopic":"/r","fields":[${fields}]}`), {
      submitValue: parseJsonText(submit),
      values: object(values),
      location: parseJsonText(location),
      now: Date.UTC(2031, 3, 2, 8, 15),
      hasDocument: async (name) => name === PHOTO,
    });
    return `${toJson(answer.submitValue)} ${toJson(answer.values)}`;
  } catch (error) {
    const all = error instanceof CascadeErrors ? error.errors : [error];
    return all.map((one) => (one instanceof CascadeError ? [one.code.slice(21), ...one.params].join(' ') : String(one))).join('; ');
  }
}

const INSPECTION =
  '{"type":"inputInteger","id":"n"},{"type":"inputString","id":"s","optional":true},{"type":"checkbox","id":"c"},{"type":"droplist","id":"d","values":["x","y"],"default":"y"}';

test.each([
  ['{"n":4}', 'null', '0 {"n":4,"s":null,"c":false,"d":"y"}'],
  ['{}', 'null', 'required.missing n'],
  ['{"n":4,"d":null}', '0', '0 {"n":4,"s":null,"c":false,"d":null}'],
  ['{"n":"4"}', 'null', 'value.invalid n type'],
  ['{"n":400}', 'null', 'value.invalid n range'],
  ['{"n":4,"zz":1}', 'null', '0 {"n":4,"s":null,"c":false,"d":"y"}'],
  ['{"n":4}', '9', 'submit.value 9'],
  ['{"n":4}', '"0"', 'submit.value 0'],
  ['{"n":4.5,"d":"z","c":null}', 'null', 'value.invalid n type; value.invalid d values'],
  ['{"n":"","c":""}', 'null', 'required.missing n'],
])('the form of an inspection with %s and the button %s', async (values, submit, expected) => {
  expect(await answered(INSPECTION, values, submit)).toBe(expected);
});

// Digits are exact over 64 bits (resources-and-api.md 1.4).
test.each([
  ['{"type":"inputInteger","id":"n","maxValue":9007199254740993}', '{"n":9007199254740993}', '0 {"n":9007199254740993}'],
  ['{"type":"inputInteger","id":"n","maxValue":9007199254740992}', '{"n":9007199254740993}', 'value.invalid n range'],
  ['{"type":"inputReal","id":"n","maxValue":9007199254740992.0}', '{"n":9007199254740993}', 'value.invalid n range'],
  ['{"type":"inputReal","id":"n","maxValue":9007199254740992}', '{"n":9007199254740992.0}', '0 {"n":9007199254740992.0}'],
  [
    '{"type":"droplist","id":"n","values":[{"label":"a","value":9007199254740992},{"label":"b","value":9007199254740993}]}',
    '{"n":9007199254740993}',
    '0 {"n":9007199254740993}',
  ],
])('integers that are one double: %s with %s', async (fields, values, expected) => {
  expect(await answered(fields, values)).toBe(expected);
});

test('buttons whose values are one double are two', async () => {
  const button = '{"type":"footerButton","buttonLabel":"G","value":9007199254740993}';
  expect(await answered(button, '{}', '9007199254740992')).toBe('submit.value 9007199254740992');
  expect(await answered(button, '{}', '9007199254740993')).toBe('9007199254740993 {}');
});

// spec: integrations.md S9
test.each([
  ['{"type":"footerButton","buttonLabel":"G","value":2}', '{}', 'null', 'submit.value 0'],
  ['{"type":"inlineButton","buttonLabel":"G","value":2}', '{}', '2', '2 {}'],
  ['{"type":"buttonCluster","values":[{"label":"A","value":5}]}', '{}', 'null', '0 {}'],
  ['{"type":"buttonCluster","values":[{"label":"A","value":5}]}', '{}', '5', '5 {}'],
])('buttons: %s with %s, submitted by %s', async (fields, values, submit, expected) => {
  expect(await answered(fields, values, submit)).toBe(expected);
});

const field = (type: string, more = ''): string => `{"type":"${type}","id":"f"${more}}`;
// spec: integrations.md S10
test.each([
  [field('inputInteger', ',"flavor":"slider","minValue":10,"maxValue":20'), '{}', '{"f":10}'],
  [field('inputReal', ',"flavor":"slider"'), '{"f":null}', '{"f":null}'],
  [field('inputReal', ',"minValue":-2'), '{"f":-1.5}', '{"f":-1.5}'],
  [field('inputReal'), '{"f":true}', 'value.invalid f type'],
  [field('inputString', ',"maxLength":3'), '{"f":"abcd"}', 'value.invalid f length'],
  [field('inputString', ',"optional":false,"default":"d"'), '{"f":""}', '{"f":null}'],
  [field('inputString'), '{"f":5}', 'value.invalid f type'],
  [field('barcode'), '{"f":""}', 'required.missing f'],
  [field('barcode'), '{"f":"4006381333931"}', '{"f":"4006381333931"}'],
  [field('checkbox', ',"default":true'), '{}', '{"f":true}'],
  [field('checkbox', ',"default":true'), '{"f":null}', '{"f":false}'],
  [field('checkbox'), '{"f":1}', 'value.invalid f type'],
  [field('date', ',"default":"2031-04-02T23:30:00-02:00"'), '{}', '{"f":"2031-04-03"}'],
  [field('date'), '{"f":"2031-04-02"}', '{"f":"2031-04-02"}'],
  [field('date'), '{"f":"2031-02-30"}', 'value.invalid f type'],
  [field('date'), '{"f":"2031-04-02T08:00:00Z"}', 'value.invalid f type'],
  [field('datetime'), '{"f":"2031-04-02T10:15:00+02:00"}', '{"f":"2031-04-02T08:15:00.000Z"}'],
  [field('datetime', ',"default":"2031-04-02"'), '{}', '{"f":"2031-04-02T00:00:00.000Z"}'],
  [field('currentDateTime'), '{}', '{"f":"2031-04-02T08:15:00.000Z"}'],
  [field('currentLocation'), '{}', '{"f":null}'],
  [field('currentLocation'), '{"f":{"longitude":7,"latitude":91}}', 'value.invalid f type'],
  [field('droplist', ',"values":[{"label":"One","value":1}]'), '{"f":1}', '{"f":1}'],
  [field('radioButtons', ',"values":[{"label":"One","value":1}]'), '{"f":"1"}', 'value.invalid f values'],
  [field('map'), '{"f":{"longitude":7.5,"latitude":50,"more":1}}', '{"f":{"longitude":7.5,"latitude":50}}'],
  [field('map', ',"default":{"type":"Point","coordinates":[7,50]}'), '{}', '{"f":{"longitude":7,"latitude":50}}'],
  [field('map'), '{}', 'required.missing f'],
  ['{"type":"map"}', '{}', '{}'],
  [field('camera'), `{"f":"${PHOTO}"}`, `{"f":"${PHOTO}"}`],
  [field('markupImage'), `{"f":"${PHOTO.replace('0b', '0c')}"}`, 'value.invalid f document'],
  [field('audio'), `{"f":"${PHOTO}"}`, 'value.invalid f type'],
  [field('video'), '{"f":"rcs/video/../x.mp4"}', 'value.invalid f type'],
  [field('video', ',"optional":true'), '{}', '{"f":null}'],
  [field('audio', ',"default":"anything"'), '{}', 'required.missing f'],
  [field('camera', ',"default":5'), '{}', 'required.missing f'],
  [field('markupImage', `,"default":"${PHOTO}"`), '{}', 'required.missing f'],
  [field('video', ',"optional":true,"default":{"a":1}'), '{}', '{"f":null}'],
  [field('hologram'), '{"f":1}', '{}'],
  [field('sectionLabel', ',"label":"x"'), '{"f":1}', '{}'],
])('%s with %s', async (fields, values, expected) => {
  expect((await answered(fields, values)).replace(/^0 /, '')).toBe(expected);
});

test('the location of the device is the value of a location field that is left empty', async () => {
  expect(await answered(field('currentLocation'), '{}', 'null', '{"longitude":7,"latitude":50}')).toBe(
    '0 {"f":{"longitude":7,"latitude":50}}',
  );
  expect(await answered(field('currentLocation'), '{}', 'null', '"here"')).toBe('value.invalid f type');
});
