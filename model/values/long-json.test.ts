// A long text is read piece by piece to the same value, or refused with the same error at the same place, as at once.
import { expect, test } from 'vitest';
import { parseJson, parseLongJson } from './index.ts';

/** A clock of which each look takes a millisecond. */
function ticking(): () => number {
  let ms = 0;
  return () => (ms += 1);
}

const repeated = (part: string, times: number): string => Array.from({ length: times }, () => part).join(',');

const TEXTS: [string, string][] = [
  ['numbers of all kinds', `[${repeated('1,1.0,-0.5e-3,12345678901234567890,0.12345678901234567,9007199254740993', 8_000)}]`],
  ['objects in each other', `[${repeated('{"a":{"b":[1,{"c":"\\u00e4\\n"}],"__proto__":{"x":null}}, "a" : true }', 3_000)}]`],
  ['one long text with escapes', `["${'\\n\\u0041x'.repeat(20_000)}",false]`],
  ['blanks', `${' \n'.repeat(60_000)}[ ]${'\t'.repeat(60_000)}`],
  ['an error far behind', `[${repeated('1', 60_000)},x]`],
  ['an end too early', `{"a":[${repeated('"b"', 30_000)}`],
  ['something behind the end', `[${repeated('1', 60_000)}] 2`],
  ['too deep', `${'['.repeat(200)}${']'.repeat(200)}`],
  ['a control character', `["${'x'.repeat(70_000)}\u0001"]`],
  ['a broken escape', `["${'x'.repeat(70_000)}\\u12"]`],
];

test.each(TEXTS)('%s', async (name, text) => {
  const bytes = Buffer.from(text);
  const outcome = async (read: () => unknown): Promise<unknown> => {
    try {
      return { value: await read() };
    } catch (error) {
      return { error: { ...(error as object), message: (error as Error).message } };
    }
  };
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    return Promise.resolve();
  };
  const long = await outcome(() => parseLongJson(bytes, pause, {}, ticking()));
  expect(long).toEqual(await outcome(() => parseJson(bytes)));
  if (name.startsWith('numbers')) expect(pauses).toBeGreaterThan(10);
});

test('more values than allowed are refused as soon as they are seen', async () => {
  const bytes = Buffer.from(`[${repeated('1', 100_000)}]`);
  let pauses = 0;
  const read = parseLongJson(bytes, async () => void pauses++, { maxValues: 1_000 }, ticking());
  await expect(read).rejects.toMatchObject({ code: 'cascade.request.body.invalid' });
  expect(pauses).toBe(1); // before the first slice
});
