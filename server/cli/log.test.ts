// The log for people, and what reaches a terminal: text of others commands neither.
import { expect, test } from 'vitest';
import { lineOf } from './log.ts';
import { harmless } from './terminal.ts';

test('a line of the log shows control characters in what clients gave, and stays one line', () => {
  const line = {
    level: 40,
    time: 0,
    msg: 'refused',
    username: '\u001b[2Jeve\u202e',
    'a\nb': 'x y',
    err: { stack: 'Error: \u001b]0;t\u0007\n  at f' },
  };
  expect(lineOf(JSON.stringify(line), false).replace(/^[\d:]+/, 'T')).toBe(
    'T warn: refused (username=\\u{1b}[2Jeve\\u{202e}, a\\u{a}b="x y")\n    Error: \\u{1b}]0;t\\u{7}\n      at f\n',
  );
});

test('a terminal gets colours and lines, and no other commands', () => {
  const own = '\u001b[31mred\u001b[39m\ta\r\nb\n\r\u001b[2Kprogress';
  expect(harmless(own)).toBe(own);
  expect(harmless('\u001b]0;title\u0007 \u001b[2J \u009b2J over\rwritten \u0008')).toBe(
    '\ufffd]0;title\ufffd \ufffd[2J \ufffd2J over\ufffdwritten \ufffd',
  );
});
