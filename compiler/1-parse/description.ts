// The doc text before the first token (language.md L5): comments without their markers, as the resource's description.
import type { Tokens } from './tokens.ts';

/** The lines of all comments before the first token; blank lines at both ends are left out, and so is a common indentation. */
export function description(tokens: Tokens): string {
  const lines: string[] = [];
  let lineComments: string[] = [];
  const flush = (): void => {
    for (const line of dedent(lineComments)) lines.push(line);
    lineComments = [];
  };
  for (const { start, end, before } of tokens.comments) {
    if (before > 0) break;
    const text = tokens.source.slice(start, end);
    if (text.startsWith('//')) lineComments.push(text.replace(/^\/+/, ''));
    else {
      flush();
      for (const line of blockLines(text)) lines.push(line);
    }
  }
  flush();
  return trimBlankLines(lines).join('\n');
}

function blockLines(text: string): string[] {
  let end = text.length;
  if (text.endsWith('*/') && end > 3) for (end -= 1; text[end - 1] === '*'; ) end -= 1;
  const [first = '', ...rest] = text
    .slice(2, Math.max(2, end))
    .replace(/^\*+/, '')
    .split(/\r\n|\r|\n/);
  return [first.trim(), ...dedent(rest.map((line) => line.replace(/^[ \t]*\*/, '')))];
}

function dedent(lines: readonly string[]): string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  const margin = trimmed.reduce((least, line) => (line === '' ? least : Math.min(least, line.length - line.trimStart().length)), Infinity);
  return trimmed.map((line) => line.slice(margin));
}

function trimBlankLines(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line !== '');
  if (first < 0) return [];
  let last = lines.length;
  while (lines[last - 1] === '') last -= 1;
  return lines.slice(first, last);
}
