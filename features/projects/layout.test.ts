import { expect, test } from 'vitest';
import { canonical, documentName, filesOf, type Members, parseExact, programName, toSend, toText } from './layout.ts';

const fileOf = (folder: string, name: string): string | undefined => filesOf(folder, [name]).get(name);

test('a file is named after its resource, with characters escaped that file systems refuse', () => {
  expect(fileOf('topics', '/plant/empty')).toBe('plant/empty.json');
  expect(fileOf('rules', 'low:1.0')).toBe('low%3A1.0.rule');
  expect(fileOf('procedures', 'Dosing.start')).toBe('Dosing_start.procedure');
  expect(fileOf('groups', '../x')).toBe('%2E.%2Fx.json');
  const long = fileOf('topics', `/a/${'x'.repeat(253)}`);
  expect(long).toMatch(/^a\/x{217}~[0-9a-f]{32}\.json$/);
});

test('the path of a document determines its name', () => {
  const names = [
    'a/b.txt',
    '.hidden/x',
    'public/ä x?.txt',
    '100%',
    'a:b',
    'a/./b',
    ' x ',
    'a/',
    'a//b',
    'a///b/',
    'a',
    'a/b.txt/c',
    'a%2F',
  ];
  const files = filesOf('documents', names);
  for (const [name, file] of files) {
    expect(documentName(file)).toBe(name);
    expect(file.split('/').some((part) => part === '' || part === '.' || part === '..' || part.startsWith('.'))).toBe(false);
  }
  expect(filesOf('documents', ['a', 'a/b/c', 'd/e'])).toEqual(
    new Map([
      ['a', 'a'],
      ['a/b/c', 'a%2Fb/c'],
      ['d/e', 'd/e'],
    ]),
  );
});

test('no two resources have one file, and none has its file where another needs a folder (resources-and-api.md 11)', () => {
  const clashing: [folder: string, names: string[]][] = [
    ['procedures', ['a.b_c', 'a_b.c', 'a_b_c', 'd.e']],
    ['topics', ['/a', '/a.json/b', '/a.json/b.json/c', '/b']],
    ['documents', ['a', 'a/', 'a//', 'a/b', 'a/b/c', 'a//b', 'a%2Fb']],
  ];
  for (const [folder, names] of clashing) {
    const files = [...filesOf(folder, names).values()];
    expect(new Set(files).size).toBe(names.length);
    for (const file of files) expect(files.filter((other) => other.startsWith(`${file}/`))).toEqual([]);
  }
  expect(filesOf('procedures', ['d.e', 'a.b_c']).get('d.e')).toBe('d_e.procedure');
});

test('integers beyond the precision of a number keep their digits', () => {
  const text = '{"default":9007199254740993,"n":5,"r":1.5}';
  const read = parseExact(text) as Members;
  expect(JSON.stringify(read)).toBe(text);
  expect(JSON.stringify(toSend({ name: 'T', ...read }))).toContain('9007199254740993');
  expect(toText(read)).toContain('9007199254740993');
  expect(canonical(read)).not.toBe(canonical(parseExact('{"default":9007199254740992,"n":5,"r":1.5}') as Members));
});

test('definitions compare equal regardless of the order of members, and of unset ones', () => {
  const type = { properties: { a: { type: 'Integer' } }, name: 'T', foreignKeys: null, maxStorage: 0 };
  const present = canonical({ _id: 'x', ars_version: 3, name: 'T', properties: { a: { type: 'Integer' } }, indexBuilds: [] });
  expect(canonical(type)).toBe(present);
  expect(canonical({ ...type, properties: {} })).not.toBe(present);
  expect(canonical({ ...type, audited: false })).not.toBe(present);
  expect(canonical({ ...type, properties: { a: { type: 'Integer', default: null } } })).not.toBe(present);
  expect(toText({ b: 1, a: { d: 1, c: 2 } })).toBe('{\n  "a": {\n    "c": 2,\n    "d": 1\n  },\n  "b": 1\n}\n');
});

test('the name of a program is read from its text', () => {
  expect(programName('// RULE no\nRULE low:2 WHEN')).toBe('low:2');
  expect(programName('/* PROCEDURE x */ PROCEDURE A.b(c)')).toBe('A.b');
  expect(programName('var a = 1')).toBeNull();
});

test('the next time of a scheduled event by the calendar is no part of it, the first one of an interval is', () => {
  const event = { name: 'tick', periodic: true, occursAt: '2027-01-01T06:00:00.000Z' };
  expect(toSend({ ...event, cron: '0 6 * * *', zone: 'UTC' })).toEqual({ name: 'tick', periodic: true, cron: '0 6 * * *', zone: 'UTC' });
  expect(toSend({ ...event, interval: 60_000 })).toHaveProperty('occursAt');
});

test('members that are called as those of every object are compared as all others', () => {
  const read = (text: string): string => canonical(parseExact(text) as Members);
  expect(read('{"name":"/t","constructor":1,"__proto__":2}')).toBe(read('{"__proto__":2,"constructor":1,"name":"/t"}'));
  expect(read('{"name":"/t","constructor":1}')).not.toBe(read('{"name":"/t","constructor":2}'));
});
