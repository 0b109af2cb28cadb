// From RE2's reading of a pattern to PCRE's, where the two differ: `$`, `^` and `.` at line ends, `\s`, `\v`, octal escapes, brackets in
// classes, names of groups. What PCRE alone would understand has been refused by RE2 before.

/** Flags that change what is written; the others stay flags. */
interface Flags {
  readonly multiline: boolean;
  readonly caseless: boolean;
}

/**
 * @returns null for what stays out of conditions: look-behind, a quantifier on flags, letters of one case where case does not count (the
 * engines differ)
 */
export function toPcre(source: string): string | null {
  let text = '';
  /** Those in force, for each open group. */
  const flags: Flags[] = [{ multiline: false, caseless: false }];
  for (let i = 0; i < source.length; ) {
    const char = source[i] as string;
    const here = flags.at(-1) as Flags;
    if (here.caseless && ONE_CASE.test(source.slice(i, i + 7))) return null;
    if (char === '\\') {
      const [replacement, length] = escape(source, i);
      const plain = replacement === 's' ? '[\\t\\n\\f\\r ]' : replacement === 'S' ? '[^\\t\\n\\f\\r ]' : replacement;
      text += /^\\[AzbB]$/.test(plain) ? repeatable(plain, source, i + length) : plain;
      i += length;
    } else if (char === '[') {
      const [replacement, length] = characterClass(source, i);
      if (here.caseless && ONE_CASE_INSIDE.test(source.slice(i, i + length))) return null;
      text += replacement;
      i += length;
    } else if (char === '(') {
      const group = groupAt(source, i);
      if (group === null) return null;
      if (group.open) flags.push(group.flags(here));
      else flags[flags.length - 1] = group.flags(here);
      text += group.text;
      i += group.length;
    } else {
      if (char === ')') flags.pop();
      text += char === '^' || char === '$' ? repeatable(anchor(char, here.multiline), source, i + 1) : literal(source, i);
      i++;
    }
  }
  return text;
}

/** RE2: `$` is the very end; with `m` a line ends at `\n` or at the end, and one begins after every `\n`. */
function anchor(char: string, multiline: boolean): string {
  if (char === '^') return multiline ? '(?<![^\\n])' : '\\A';
  return multiline ? '(?![^\\n])' : '\\z';
}

/** PCRE repeats no anchor, but a group around one. */
const repeatable = (anchor: string, source: string, next: number): string => (/[*+?{]/.test(source[next] ?? '') ? `(?:${anchor})` : anchor);

function literal(source: string, i: number): string {
  const char = source[i] as string;
  if (char === '\0') return '\\x00';
  return char === '{' && !/^\{\d+(?:,\d*)?\}/.test(source.slice(i, i + 24)) ? '\\{' : char;
}

const ONE_CASE = /^\\[pP]\{\^?L[ult]\}/;

const ONE_CASE_INSIDE = /\\[pP]\{\^?L[ult]\}|\[:\^?(?:upper|lower):\]/;

interface Group {
  text: string;
  length: number;
  /** False for flags alone, `(?i)`. */
  open: boolean;
  flags(outer: Flags): Flags;
}

const same = (outer: Flags): Flags => outer;

function groupAt(source: string, i: number): Group | null {
  if (source[i + 1] !== '?') return { text: '(', length: 1, open: true, flags: same };
  const named = /^\(\?P?<[A-Za-z_]\w*>/.exec(source.slice(i));
  if (named) return { text: '(', length: named[0].length, open: true, flags: same };
  const parts = /^\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])/.exec(source.slice(i));
  if (!parts) return null;
  const [whole, on = '', off = '', end] = parts;
  const open = end === ':';
  if (!open && /^[*+?{]/.test(source.slice(i + whole.length))) return null;
  const [keptOn, keptOff] = [on.replaceAll('m', ''), off.replaceAll('m', '')];
  const kept = keptOn + (keptOff === '' ? '' : `-${keptOff}`);
  const set = (letter: string, before: boolean): boolean => (off.includes(letter) ? false : on.includes(letter) || before);
  return {
    text: open ? `(?${kept}:` : kept === '' ? '' : `(?${kept})`,
    length: whole.length,
    open,
    flags: ({ multiline, caseless }) => ({ multiline: set('m', multiline), caseless: set('i', caseless) }),
  };
}

/** What a backslash at `i` becomes, and its length in the source; `s` and `S` depend on the place. */
function escape(source: string, i: number): [replacement: string, length: number] {
  const kind = source[i + 1] ?? '';
  if (kind === 's' || kind === 'S') return [kind, 2];
  if (kind === 'v') return ['\\x0b', 2];
  const octal = /^\\([0-7]{1,3})/.exec(source.slice(i, i + 4));
  if (octal) return [`\\x{${Number.parseInt(octal[1] as string, 8).toString(16)}}`, octal[0].length];
  const braced = /^\\[xpP]\{[^}]*\}/.exec(source.slice(i));
  return braced ? [braced[0], braced[0].length] : [source.slice(i, i + 2), 2];
}

/** A class: a `[` in it that opens no POSIX name means itself. */
function characterClass(source: string, start: number): [replacement: string, length: number] {
  let i = start + 1;
  let text = '[';
  if (source[i] === '^') {
    text += '^';
    i++;
  }
  if (source[i] === ']') {
    text += '\\]';
    i++;
  }
  while (i < source.length && source[i] !== ']') {
    const char = source[i] as string;
    if (char === '\\') {
      const [replacement, length] = escape(source, i);
      text += replacement === 's' ? '\\t\\n\\f\\r ' : replacement === 'S' ? '\\x00-\\x08\\x0b\\x0e-\\x1f!-\\x{10ffff}' : replacement;
      i += length;
    } else if (char === '[') {
      const posix = /^\[:\^?\w+:\]/.exec(source.slice(i));
      text += posix ? posix[0] : '\\[';
      i += posix ? posix[0].length : 1;
    } else {
      text += char === '\0' ? '\\x00' : char;
      i++;
    }
  }
  return [`${text}]`, i + 1 - start];
}
