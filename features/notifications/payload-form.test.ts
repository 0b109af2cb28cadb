// Validation of the forms of messages (integrations.md 8.5, 8.6).
import { expect, test } from 'vitest';
import { getOwn, parseJsonText } from '../../stdlib/values/index.ts';
import { CascadeErrors } from '../../model/errors/api-errors.ts';
import { checkForm } from './payload-form.ts';

const faultsOf = (payload: string): string[] => {
  try {
    checkForm(parseJsonText(payload));
    return [];
  } catch (error) {
    if (!(error instanceof CascadeErrors)) throw error;
    return error.errors.map(({ code, params }) => `${code.split('.').at(-1)} ${params.join(' ')}`);
  }
};
const form = (...fields: string[]): string => `{"responseTopic":"/yard/reply","fields":[${fields.join(',')}]}`;

test.each([
  ['{"responseTopic":"/yard/reply"}', []],
  ['{"fields":[]}', ['/responseTopic missing']],
  ['{"responseTopic":"yard/reply"}', ['/responseTopic pattern']],
  ['{"responseTopic":"/system/x"}', ['/responseTopic pattern']],
  [form('{"type":"hologram"}'), []],
  [form('{"id":"a"}'), ['/fields/0/type missing']],
  [form('{"type":"inputString"}'), ['/fields/0/id missing']],
  [form('{"type":"barcode","id":"a"}', '{"type":"camera","id":"a"}'), ['/fields/1/id duplicate.id']],
  [form('{"type":"inputInteger","id":"n","minValue":5,"maxValue":5}'), ['/fields/0/minValue range']],
  [form('{"type":"inputInteger","id":"n","default":101}'), ['/fields/0/default range']],
  [form('{"type":"inputInteger","id":"n","default":3.5}'), ['/fields/0/default type']],
  [form('{"type":"inputReal","id":"n","minValue":-2,"default":-1.5}'), []],
  [form('{"type":"droplist","id":"d","values":["x","y"],"default":"z"}'), ['/fields/0/default default.not.in.values']],
  [form('{"type":"droplist","id":"d","values":[{"label":"One","value":1}],"default":1}'), []],
  [form('{"type":"droplist","id":"d","values":["x",{"label":"Y","value":"y"}]}'), ['/fields/0/values type']],
  [form('{"type":"radioButtons","id":"d","values":[]}'), ['/fields/0/values empty']],
  [form('{"type":"radioButtons","id":"d","values":["x","x"]}'), ['/fields/0/values/1 duplicate.value']],
  [form('{"type":"footerButton","buttonLabel":"Go"}'), ['/fields/0/value missing']],
  [
    form('{"type":"footerButton","buttonLabel":"Go","value":1}', '{"type":"inlineButton","buttonLabel":"No","value":1}'),
    ['/fields/1/value duplicate.value'],
  ],
  [form('{"type":"document","url":"https://h/x.pdf","flavor":"pdf"}'), []],
  [form('{"type":"image","label":"Map"}'), ['/fields/0/url missing']],
  [form('{"type":"text","text":"Hi","style":"loud"}'), ['/fields/0/style enum']],
  [form('{"type":"checkbox","id":"c","default":"yes"}'), ['/fields/0/default type']],
  [form('{"type":"audio","id":"a","maxDurationSeconds":0}'), ['/fields/0/maxDurationSeconds range']],
  [form('{"type":"inputString","id":"a b"}'), ['/fields/0/id pattern']],
  [form('{"type":"inputString","id":"__proto__"}'), ['/fields/0/id pattern']],
  [form('{"type":"date","id":"d","default":"next week"}'), ['/fields/0/default type']],
  [form('{"type":"image","url":"u","size":101}'), ['/fields/0/size range']],
  [form('{"type":"image","url":"u","label":"l","size":"101"}'), []],
  [form('{"type":"buttonCluster","values":[{"label":"A","value":"a"}]}'), ['/fields/0/values/0/value type']],
  [
    form('{"type":"buttonCluster","values":[{"label":"A","value":1},{"label":"B","value":1},{"value":2}]}'),
    ['/fields/0/values/2/label missing', '/fields/0/values/1/value duplicate.value'],
  ],
  [
    form('{"type":"footerButton","buttonLabel":"Go","value":1}', '{"type":"buttonCluster","values":[{"label":"A","value":1}]}'),
    ['/fields/1/values/0/value duplicate.value'],
  ],
  [form('{"type":"buttonCluster","values":["a"]}'), ['/fields/0/values type']],
  [
    form('{"type":"droplist","id":"d","values":[{"label":"A","value":true},7]}'),
    ['/fields/0/values/0/value type', '/fields/0/values/1 type'],
  ],
  [form('{"type":"map","default":{"longitude":200}}'), ['/fields/0/default/longitude range', '/fields/0/default/latitude missing']],
  [form('{"type":"map","default":{"type":"Point","coordinates":[7,"x"]}}'), ['/fields/0/default/coordinates/1 type']],
  [
    form('{"type":"map","markers":[{"label":"A","longitude":1,"latitude":2,"color":"red"},{"label":5,"longitude":1}]}'),
    ['/fields/0/markers/0/color pattern', '/fields/0/markers/1/label type', '/fields/0/markers/1/latitude missing'],
  ],
  [form('{"type":"inputString","id":"s","maxLength":2,"default":"abc"}'), ['/fields/0/default range']],
  [form('{"type":"inputString","id":""}'), ['/fields/0/id pattern']],
  [form('{"type":"map"}'), []],
  [form('{"type":"barcode"}', '7', '{"type":"sectionLabel"}'), ['/fields/0/id missing', '/fields/1 type', '/fields/2/label missing']],
  ['[]', [' type']],
])('%s', (payload, expected) => {
  expect(faultsOf(payload)).toEqual(expected.map((one) => `payload ${one}`));
});

test('unknown members of a form are kept and ignored', () => {
  const payload = parseJsonText(form('{"type":"checkbox","id":"c","whatever":{"a":1}}'));
  checkForm(payload);
  expect(getOwn(payload as never, 'fields')).toHaveLength(1);
});

// With a look at all the others for each, these would take hours.
test('a list of many choices is checked with one look at each', () => {
  const values = Array.from({ length: 200_000 }, (_, at) => `choice ${at}`);
  const pairs = values.map((label, value) => ({ label, value }));
  const faultsWith = (last: string, pair: object): string[] => {
    const list = JSON.stringify({ type: 'droplist', id: 'd', values: [...values, last] });
    return faultsOf(form(list, JSON.stringify({ type: 'buttonCluster', values: [...pairs, pair] })));
  };
  expect(faultsWith('another', { label: 'Another', value: -1 })).toEqual([]);
  const expected = ['/fields/0/values/200000 duplicate.value', '/fields/1/values/200000/value duplicate.value'];
  expect(faultsWith('choice 7', { label: 'Again', value: 7 })).toEqual(expected.map((one) => `payload ${one}`));
});
