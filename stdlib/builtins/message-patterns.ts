// The grammar of message patterns: text, `{n}`, `{n,type,style}` and quotes (builtins.md 3.1, 3.4).
import { fail } from '../errors.ts';
import { parseReal } from '../values/index.ts';

export type PlaceholderType = 'number' | 'date' | 'time' | 'choice';
export interface Placeholder {
  readonly index: number;
  readonly type: PlaceholderType | null;
  /** As written, quotes and leading blanks included; null when there is none. */
  readonly style: string | null;
  /** Where its `{` stands. */
  readonly at: number;
}
export type MessagePart = string | Placeholder;

const TYPES: readonly string[] = ['number', 'date', 'time', 'choice'];

/** Splits a message into text and placeholders; what is neither is a pattern error. */
export function parseMessage(pattern: string): MessagePart[] {
  const parts: MessagePart[] = [];
  let literal = '';
  let quoted = false;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] as string;
    if (char === "'") {
      if (pattern[i + 1] === "'") {
        literal += "'";
        i++;
      } else quoted = !quoted;
    } else if (char === '{' && !quoted) {
      const end = closingBrace(pattern, i);
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(parsePlaceholder(pattern, i, end));
      i = end;
    } else literal += char;
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

/** The `}` that closes the `{` at `open`; braces in quotes do not count. */
function closingBrace(pattern: string, open: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = open; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "'") quoted = !quoted;
    else if (!quoted && char === '{') depth++;
    else if (!quoted && char === '}' && --depth === 0) return i;
  }
  return fail('cascade.builtin.pattern', pattern, open);
}

function parsePlaceholder(pattern: string, open: number, end: number): Placeholder {
  const [, index, rest, type, style] = /^(\d+)(,([^,]*)(?:,([\s\S]*))?)?$/.exec(pattern.slice(open + 1, end)) ?? [];
  const named = type?.trim().toLowerCase();
  if (index === undefined || index.length > 9 || (rest !== undefined && !TYPES.includes(named ?? '')))
    fail('cascade.builtin.pattern', pattern, open);
  return { index: Number(index), type: (named as PlaceholderType | undefined) ?? null, style: style ?? null, at: open };
}

export interface Choice {
  readonly limit: number;
  /** Above the limit only, not at it. */
  readonly above: boolean;
  readonly text: string;
}

/** `0#none|1#one|1<more`: limits ascend; else a pattern error. */
export function parseChoices(style: string): Choice[] {
  const choices: Choice[] = [];
  let start = 0;
  while (start <= style.length) {
    const end = endOfChoice(style, start);
    const item = style.slice(start, end);
    const separator = item.search(/[#\u2264<]/);
    const limit = parseLimit(item.slice(0, Math.max(separator, 0)).trim());
    const before = choices.at(-1);
    const above = item[separator] === '<';
    if (Number.isNaN(limit) || (before && (limit < before.limit || (limit === before.limit && (before.above || !above)))))
      fail('cascade.builtin.pattern', style, start);
    choices.push({ limit, above, text: unquoted(item.slice(separator + 1)) });
    start = end + 1;
  }
  return choices;
}

/** The last choice whose limit holds, else the first. */
export function choose(choices: readonly Choice[], value: number): string {
  const held = choices.findLast(({ limit, above }) => (above ? value > limit : value >= limit));
  return (held ?? choices[0])?.text ?? '';
}

/** The `|` that ends an item; those in quotes and in nested placeholders do not count. */
function endOfChoice(style: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < style.length; i++) {
    const char = style[i];
    if (char === "'") quoted = !quoted;
    else if (!quoted && char === '{') depth++;
    else if (!quoted && char === '}') depth--;
    else if (!quoted && depth === 0 && char === '|') return i;
  }
  return style.length;
}

function parseLimit(text: string): number {
  if (text === '∞') return Number.POSITIVE_INFINITY;
  if (text === '-∞') return Number.NEGATIVE_INFINITY;
  return parseReal(text) ?? Number.NaN;
}

/** A text that goes on to be a message keeps its quotes; any other loses them here. */
function unquoted(text: string): string {
  if (text.includes('{')) return text;
  return text.replace(/''|'/g, (quote) => (quote === "''" ? "'" : ''));
}
