// A place in the emitted text is led back to the call that it stands for; what stands for no part of the text leads nowhere.
import { expect, test } from 'vitest';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { compile, originalPosition } from './index.ts';

test('the emitted call of a built-in leads to the call in the text, the head of the module to nothing', () => {
  const compiled = compile('PROCEDURE p(a)\nvar x = 1\n  x = trim(a)\nreturn x', { builtins: builtinTable() });
  if (!compiled.ok) throw new Error('does not compile');
  const { source, map } = compiled.unit.module;
  const lines = source.split('\n');
  const row = lines.findIndex((line) => line.includes('b_trim($'));
  expect(originalPosition(map, row + 1, lines[row]!.indexOf('b_trim($') + 1)).toEqual({ line: 3, column: 7 });
  expect(originalPosition(map, 1, 1)).toBeNull();
});
