// The parts of `npm run mutation`: which mutants are drawn, how they are named, what a report says.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readAccepted } from './accepted.ts';
import { identify, nameOf, original } from './mutant.ts';
import { folderOf, patternsOf, ROOMS } from './rooms.ts';
import { type Candidate, choose } from './sample.ts';
import { type Score, fallen, judge, recorded } from './score.ts';

const SOURCE = 'const a = 1;\n  if (a < b &&\n    c) return;\n';
const at = (line: number, column: number, endLine: number, endColumn: number) => ({
  start: { line, column },
  end: { line: endLine, column: endColumn },
});
const mutant = (id: string, location: ReturnType<typeof at>, replacement = 'x', mutatorName = 'ConditionalExpression') => ({
  ...{ id, location, replacement, mutatorName },
});
const candidates = (file: string, count: number, from = 0): Candidate[] =>
  Array.from({ length: count }, (_, i) => ({ ...mutant(`${file} ${from + i}`, at(0, 10, 0, 11), String(from + i)), file }));

test('a mutant is named by its line and what is changed there, whether lines begin at 0 or at 1', () => {
  expect(original(SOURCE, mutant('1', at(1, 6, 2, 5)), 0)).toBe('a < b &&\n    c');
  const identity = { file: 'compiler/x.ts', line: 'if (a < b &&', change: 'a < b && c → true' };
  expect(identify('compiler/x.ts', SOURCE, mutant('1', at(1, 6, 2, 5), 'true'), 0)).toEqual(identity);
  expect(identify('compiler/x.ts', SOURCE, mutant('1', at(2, 7, 3, 6), 'true'), 1)).toEqual(identity);
});

test('a long change is shortened', () => {
  const { change } = identify('x.ts', 'a', mutant('1', at(0, 0, 0, 1), 'b'.repeat(100)), 0);
  expect(change).toBe(`a → ${'b'.repeat(59)}…`);
});

test('a sample has as many mutants of each folder, the same for the same seed and others for another', () => {
  const all = [
    ...candidates('compiler/1-parse/a.ts', 30),
    ...candidates('compiler/1-parse/deep/b.ts', 30),
    ...candidates('typing/c.ts', 3),
  ];
  const chosen = choose(all, () => SOURCE, 5, 1);
  const ofFolder = (folder: string) => all.filter(({ id, file }) => chosen.has(id) && folderOf(file) === folder).length;
  expect([ofFolder('compiler/1-parse'), ofFolder('typing')]).toEqual([5, 3]);
  expect(choose(all.toReversed(), () => SOURCE, 5, 1)).toEqual(chosen);
  expect(choose(all, () => SOURCE, 5, 2)).not.toEqual(chosen);
});

test('a sample stays when lines are put before its mutants', () => {
  const moved = candidates('typing/c.ts', 30).map((one) => ({ ...one, location: at(2, 10, 2, 11) }));
  const before = choose(candidates('typing/c.ts', 30), () => SOURCE, 5, 1);
  expect(choose(moved, () => `// one\n// two\n${SOURCE}`, 5, 1)).toEqual(before);
});

test('texts of several words are not drawn, single words are', () => {
  const source = `f('is not known', 'known');`;
  const text = (id: string, from: number, to: number) => ({
    ...mutant(id, at(0, from, 0, to), '""', 'StringLiteral'),
    file: 'typing/c.ts',
  });
  expect(choose([text('prose', 2, 16), text('word', 18, 25)], () => source, 9, 1)).toEqual(new Set(['word']));
});

test('folders of two levels are told apart', () => {
  expect(['compiler/types.ts', 'stdlib/values/backtracking/run.ts', 'typing/checks/all.ts'].map(folderOf)).toEqual([
    'compiler',
    'stdlib/values',
    'typing/checks',
  ]);
  expect(patternsOf('stdlib', ['compiler', 'stdlib/values', 'stdlib/errors.ts']).slice(0, 2)).toEqual([
    'stdlib/values/**/*.ts',
    'stdlib/errors.ts',
  ]);
  expect(patternsOf('model', ['compiler'])).toEqual([]);
});

test('a score counts what was noticed of what was tried, without the accepted', () => {
  const tried = (id: string, status: string) => ({ ...mutant(id, at(1, 11, 1, 12), id), status });
  const mutants = [
    ...['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'Ignored'].map((status, i) => tried(String(i), status)),
    tried('same', 'Survived'),
  ];
  const accepted = nameOf({ file: 'typing/c.ts', line: 'const a = 1;', change: '1 → same' });
  const judged = judge({ files: { 'typing/c.ts': { source: SOURCE, mutants } } }, new Set([accepted]), 7, '2026-11-25');
  expect(judged.scores).toEqual({ typing: { score: 50, sample: 4, mutants: 7, seed: 7, date: '2026-11-25' } });
  expect(judged.survivors.map(({ at: line, change, uncovered }) => [line, change, uncovered])).toEqual([
    [1, '1 → 2', false],
    [1, '1 → 3', true],
  ]);
  expect(judged.accepted).toBe(1);
});

test('a score that falls is told only beyond chance', () => {
  const score = (percent: number, sample: number): Score => ({ score: percent, sample, mutants: 500, seed: 1, date: '2026-11-25' });
  expect(fallen({ a: score(82, 50) }, { a: score(88, 50) })).toEqual([]);
  expect(fallen({ a: score(60, 50) }, { a: score(88, 50) })).toHaveLength(1);
  expect(fallen({ a: score(98, 50) }, { a: score(100, 50) })).toEqual([]);
  expect(fallen({ a: score(82, 2_000) }, { a: score(88, 2_000) })).toHaveLength(1);
  expect(fallen({ fresh: score(10, 50) }, {})).toEqual(['fresh has 10 %, and no score is recorded: --record']);
});

test('what is accepted is still in its file, once, with a reason', () => {
  const accepted = readAccepted(readFileSync('scripts/mutation/accepted.yaml', 'utf8'));
  for (const { file, line } of accepted)
    expect(
      readFileSync(file, 'utf8')
        .split('\n')
        .map((text) => text.trim()),
      file,
    ).toContain(line);
  expect(new Set(accepted.map(nameOf)).size).toBe(accepted.length);
  expect(() => readAccepted('- { file: a.ts, line: b, change: c → d }')).toThrow('reason');
});

test('scores are of folders that there are, and tests that are left out exist', () => {
  const scores = Object.keys(JSON.parse(readFileSync('scripts/mutation/scores.json', 'utf8')) as object);
  for (const folder of scores) expect(existsSync(folder), folder).toBe(true);
  for (const file of ROOMS.flatMap(({ without }) => without).filter((name) => !name.includes('{')))
    expect(existsSync(file), file).toBe(true);
});

test('scores are recorded by folder, those of other folders stay', () => {
  const score = (value: number): Score => ({ score: value, sample: 40, mutants: 400, seed: 1, date: '2026-11-25' });
  const text = recorded({ 'stdlib/geo': score(70), compiler: score(80) }, { compiler: score(90), model: score(60) });
  expect(Object.entries(JSON.parse(text) as Record<string, Score>).map(([folder, { score: is }]) => [folder, is])).toEqual([
    ['compiler', 90],
    ['model', 60],
    ['stdlib/geo', 70],
  ]);
  expect(text.endsWith('}\n')).toBe(true);
});
