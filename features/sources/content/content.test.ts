// spec: integrations.md 1.6 2.5
// Long contents: others have their turn while one is read, and none has more values than the process can hold.
import { expect, test } from 'vitest';
import { countSlices } from '../../../platform/structures/testing/count-slices.ts';
import { stringify, type Value } from '../../../stdlib/values/index.ts';
import { ContentError, ContentTooLarge, decodeContent, encodeContent } from './index.ts';

const decoded = (contentType: string, content: string): Promise<Value> => decodeContent('main', contentType, Buffer.from(content));
const times = (text: string, count: number): string => text.repeat(count);

const MOST = 2_000_000;
test.each([
  ['application/json', `[${times('1,', MOST)}1]`],
  ['application/json', `[${times('{},', MOST)}{}]`],
  ['application/xml', `<r>${times('<a/>', MOST / 2)}</r>`],
  ['application/xml', `<r>${times('<a>t</a>', MOST / 3 + 1)}</r>`],
  ['text/csv', `a\n${times('\n', MOST / 2 + 1)}`],
  ['text/csv', times(',', MOST + 1)],
  ['application/x-www-form-urlencoded', times('&', MOST + 1)],
])('%s with more than two million values is refused', async (contentType, content) => {
  await expect(decoded(contentType, content)).rejects.toThrow(ContentTooLarge);
});

test.each([
  ['application/json', `[${times('{"a":1.5},', 40_000)}null]`, (value: Value) => (value as Value[]).length, 40_001],
  [
    'application/xml',
    `<r>${times('<a b="1">t</a>\r\n', 40_000)}<a>end</a></r>`,
    (value: Value) => stringify(value).length,
    40_000 * 23 + 13,
  ],
  ['text/csv', `a,b\r\n${times('1,"x\n"\r\n', 40_000)}2`, (value: Value) => (value as Value[]).length, 40_001],
  ['application/x-www-form-urlencoded', `?a=1&${times('b=%20&', 40_000)}`, (value: Value) => stringify(value).length, 40_000 * 4 + 16],
])('%s: others have their turn while a long one is read', async (contentType, content, sizeOf, size) => {
  using counted = countSlices();
  expect(sizeOf(await decoded(contentType, content))).toBe(size);
  expect(counted.slices).toBeGreaterThan(3);
});

test('a long text that is no JSON is refused with the place in bytes', async () => {
  await expect(decoded('application/json', `[${times('"ü",', 40_000)}x]`)).rejects.toThrow(
    `it is no JSON: unexpected character at ${40_000 * 5 + 1}`,
  );
});

test.each<[string, string, number[]]>([
  ['text/plain', 'ü', [0xc3, 0xbc]],
  ['text/plain; charset=UTF-8', 'ü', [0xc3, 0xbc]],
  ['text/plain; charset=iso-8859-1', 'ü', [0xfc]],
  ['application/json;charset="latin1"', '"ü"', [0x22, 0xfc, 0x22]],
  ['text/plain; charset=windows-1252', '€', [0x80]],
  ['text/csv; charset=iso-8859-15', '€', [0xa4]],
  ['text/plain; charset=koi8-r', 'Я', [0xf1]],
  ['text/xml; charset=us-ascii', '<a/>', [0x3c, 0x61, 0x2f, 0x3e]],
  ['text/plain; charset=utf-16le', 'ü😀', [0xfc, 0, 0x3d, 0xd8, 0, 0xde]],
  ['text/plain; charset=utf-16be', 'ü', [0, 0xfc]],
  ['text/plain; charset=utf-16', 'ü', [0xff, 0xfe, 0xfc, 0]],
  ['text/plain; charset=shift_jis', 'a', [0x61]],
])('%s: %s is written in the charset, and read again', async (contentType, text, bytes) => {
  const value = contentType.startsWith('application/json') ? JSON.parse(text) : text;
  const written = encodeContent(contentType, value);
  expect([...written]).toEqual(bytes);
  if (/plain|json/.test(contentType)) expect(await decodeContent('main', contentType, written)).toBe(value);
});

test.each([
  ['text/plain; charset=iso-8859-1', '€', 'iso-8859-1 has no €'],
  ['application/json; charset=us-ascii', 'ü', 'us-ascii has no ü'],
  ['text/plain; charset=shift_jis', '漢', 'shift_jis has no 漢'],
  ['text/plain; charset=nonsense', 'a', 'the charset nonsense is unknown'],
])('%s cannot hold %s', (contentType, text, reason) => {
  expect(() => encodeContent(contentType, text)).toThrow(new ContentError(reason));
});
