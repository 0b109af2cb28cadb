// The catalogue of messages, and positions with their frames.
import { expect, test } from 'vitest';
import { CODES, Diagnostics, isAdvice } from './diagnostics.ts';
import { Lines, toDiagnostics } from './lines.ts';

/** resources-and-api.md 10.2, the codes of 10.1 that the compiler reports, too, and rule.before.system. */
const COMPILE_TIME = `lang.syntax lang.literal.range lang.name.reserved lang.call.mixed.arguments lang.insert.values.form lang.where.required
  lang.variable.undeclared lang.variable.redeclared lang.reference.position lang.parameter.mixed lang.parameter.required.default
  lang.option.unknown lang.package.name lang.import lang.select.alias lang.select.source lang.execute.async lang.source.size
  lang.return.position rule.loop rule.before.system lang.processedby.deprecated rule.version.invalid rule.version.conflict rule.alias.required rule.merge.alias rule.interval rule.timeout
  rule.activation service.state.modifier service.partition.parameter federation.statement.unsupported
  event.path.invalid resource.name.reserved`;

test('the catalogue holds the codes found while compiling, all of them, and advice', () => {
  expect(CODES.filter((code) => !isAdvice(code)).sort()).toEqual(
    COMPILE_TIME.split(/\s+/)
      .map((code) => `cascade.${code}`)
      .sort(),
  );
});

test('RETURN out of place is a warning', () => {
  const found = new Diagnostics();
  found.report({ start: 0, end: 1 }, 'cascade.lang.return.position', 'x');
  expect(found.list[0]?.severity).toBe('warning');
  expect(found.hasErrors).toBe(false);
  found.report({ start: 0, end: 1 }, 'cascade.lang.syntax', 'x');
  expect(found.hasErrors).toBe(true);
});

test('the same code at the same place is kept once', () => {
  const found = new Diagnostics();
  found.report({ start: 3, end: 4 }, 'cascade.lang.syntax', 'first');
  found.report({ start: 3, end: 9 }, 'cascade.lang.syntax', 'second');
  expect(found.list.map((one) => one.message)).toEqual(['first']);
});

test('past 200 they are counted and not kept', () => {
  const found = new Diagnostics();
  for (let start = 0; start < 1_000; start += 1) found.report({ start, end: start }, 'cascade.lang.syntax', 'x');
  expect(found.list).toHaveLength(200);
  expect(found.errorCount).toBe(1_000);
});

test.each([
  ['a\nb\r\nc\rd', 0, 1, 1],
  ['a\nb\r\nc\rd', 2, 2, 1],
  ['a\nb\r\nc\rd', 5, 3, 1],
  ['a\nb\r\nc\rd', 7, 4, 1],
  ['ab😀c', 4, 1, 5],
  ['\ufeffab', 2, 1, 2],
  ['ab', 2, 1, 3],
])('%j: offset %i is line %i, column %i', (text, offset, line, column) => {
  expect(new Lines(text).position(offset)).toEqual({ line, column });
});

test('a diagnostic leaves with its place, params and frame, in the order of the text', () => {
  const source = 'var a\n\tx = == 1\n';
  const found = new Diagnostics();
  found.report({ start: 11, end: 13 }, 'cascade.lang.syntax', 'expected an expression', 'a hint');
  found.report({ start: 4, end: 5 }, 'cascade.lang.name.reserved', 'a');
  const [first, second] = toDiagnostics(source, found);
  expect(first?.code).toBe('cascade.lang.name.reserved');
  expect(second).toEqual({
    code: 'cascade.lang.syntax',
    severity: 'error',
    message: 'expected an expression',
    hint: 'a hint',
    params: [2, 6, 'expected an expression'],
    start: 11,
    end: 13,
    line: 2,
    column: 6,
    frame: '2 | \tx = == 1\n  | \t    ^^',
  });
});

test('a frame cuts long lines around the place and keeps control characters from the terminal', () => {
  const lines = new Lines(`${'a'.repeat(500)}\u001b[31m${'b'.repeat(500)}`);
  const frame = lines.frame(500, 501);
  expect(frame.length).toBeLessThan(300);
  expect(frame).not.toContain('\u001b');
  const [text = '', caret = ''] = frame.split('\n');
  expect(text[caret.indexOf('^')]).toBe('\ufffd');
});

/** A sign and how often. */
const times = (sign: string, count: number): string => sign.repeat(count);
test.each([
  ['a line as wide as a frame is whole', times('x', 120), 0, 1, [`1 | ${times('x', 120)}`, '  | ^']],
  ['a wider one is cut behind', times('x', 121), 0, 1, [`1 | ${times('x', 120)}…`, '  | ^']],
  ['up to column 100 it begins with its first', times('x', 300), 99, 103, [`1 | ${times('x', 120)}…`, `  | ${times(' ', 99)}^^^^`]],
  ['from there on it is cut before the place, too', times('x', 300), 100, 103, [`1 | …${times('x', 120)}…`, `  | ${times(' ', 60)}^^^`]],
  ['carets end with the line', times('x', 300), 250, 400, [`1 | …${times('x', 109)}`, `  | ${times(' ', 60)}${times('^', 50)}`]],
  ['the end of the line before it is no part of a line', 'a = 1\r\nb = 2\r\n', 7, 8, ['2 | b = 2', '  | ^']],
  ['nor is its own', 'a = 1\r\nb = 2\r\n', 0, 9, ['1 | a = 1', '  | ^^^^^']],
  ['an empty line has a place', 'a\n\nb', 2, 3, ['2 | ', '  | ^']],
])('a frame: %s', (_, text, start, end, expected) => {
  expect(new Lines(text).frame(start, end).split('\n')).toEqual(expected);
});
