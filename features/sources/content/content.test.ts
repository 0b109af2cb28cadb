// spec: integrations.md 1.6 2.5
// Long contents: others have their turn while one is read, and none has more values than the process can hold.
import { expect, test } from 'vitest';
import { countSlices } from '../../../platform/structures/testing/count-slices.ts';
import { stringify, type Value } from '../../../stdlib/values/index.ts';
import { ContentTooLarge, decodeContent } from './index.ts';

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
