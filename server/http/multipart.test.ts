import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { boundaryOf, dispositionOf, partsOf } from './multipart.ts';
import { namesTag, rangeIn } from './ranges.ts';

const body = (...parts: [disposition: string, content: string][]): Buffer =>
  Buffer.from(
    `${parts.map(([head, content]) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`).join('')}--x--\r\n`,
  );

/** Gives the bytes in pieces of that size. */
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, size: number, encoding?: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const { name, bytes: content } of partsOf(inPieces(bytes, size), 'x', encoding)) {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    found.push([name, Buffer.concat(pieces).toString()]);
  }
  return found;
}

test('parts do not depend on the pieces in which the body arrives', async () => {
  const long = 'y'.repeat(100_000);
  const bytes = body(['name="a"', '1'], ['name="defaultName"; filename="b/ü"', long], ['name="c"', ''], ['name="d"', '--y']);
  const wanted = [
    ['a', '1'],
    ['b/ü', long],
    ['c', ''],
    ['d', '--y'],
  ];
  for (const size of [1 << 20, 7, 64, 1000]) expect(await read(bytes, size)).toEqual(wanted);
  const gzipped = gzipSync(bytes);
  expect(await read(gzipped, 100, 'gzip')).toEqual(wanted);
});

test('an unread part is skipped', async () => {
  const names: string[] = [];
  const bytes = body(['name="a"', 'y'.repeat(300_000)], ['name="b"', '1']);
  for await (const { name } of partsOf(inPieces(bytes, 1000), 'x', undefined)) names.push(name);
  expect(names).toEqual(['a', 'b']);
});

test('a truncated or malformed body is an error for its reader', async () => {
  const bad = { code: 'cascade.request.body.invalid' };
  await expect(read(body(['name="a"', 'abc']).subarray(0, 50), 10)).rejects.toMatchObject(bad);
  await expect(read(Buffer.from('nothing of the kind'), 10)).rejects.toMatchObject(bad);
  await expect(read(body(['filename="a"', '1']), 10)).rejects.toMatchObject(bad);
  const many = body(...Array.from({ length: 101 }, (_, i): [string, string] => [`name="${i}"`, '1']));
  await expect(read(many, 1000)).rejects.toMatchObject({ code: 'cascade.request.too.many.instances' });
  await expect(read(body(), 10, 'br')).rejects.toMatchObject({ code: 'cascade.request.content.type' });
});

test('boundaries and dispositions are parsed in all allowed spellings', () => {
  expect(boundaryOf('multipart/form-data; boundary="a b"')).toBe('a b');
  expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary=ab')).toBe('ab');
  expect(boundaryOf('multipart/form-data')).toBeNull();
  expect([...dispositionOf('form-data; name="a\\"b"; filename=c')]).toEqual([
    ['name', 'a"b'],
    ['filename', 'c'],
  ]);
  expect(dispositionOf('form-data; filename="x"; filename*=UTF-8\'\'%C3%A4').get('filename')).toBe('ä');
  expect([...dispositionOf('attachment; name="a"')]).toEqual([]);
});

test.each([
  ['bytes=0-0', [0, 1]],
  ['bytes=3-', [3, 10]],
  ['bytes=3-99', [3, 10]],
  ['bytes=-4', [6, 10]],
  ['bytes=-99', [0, 10]],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=100000000000000000000000-', 'unsatisfiable'],
  ['bytes=3-100000000000000000000000', [3, 10]],
  ['bytes=-100000000000000000000000', [0, 10]],
  ['bytes=4-3', null],
  ['bytes=0-1,3-4', null],
  ['bytes=-', null],
  ['items=0-1', null],
  ['bytes=a-b', null],
])('the range %s of ten bytes', (header, wanted) => expect(rangeIn(header, 10)).toEqual(wanted));

test('If-None-Match names a tag alone, in a list, weakly, or by a star', () => {
  for (const header of ['"t"', '"a", "t"', 'W/"t"', '*']) expect(namesTag(header, '"t"')).toBe(true);
  expect(namesTag('"a"', '"t"')).toBe(false);
});
