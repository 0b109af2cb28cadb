// From the regular expressions that programs write (builtins.md 4) to those that re2js reads. What neither has is left for re2js to refuse.
import { fail } from '../../errors.ts';

export interface Translated {
  readonly text: string;
  /** It looks around, refers back or must not give back what it took: nothing for an engine without backtracking. */
  readonly backtracks: boolean;
}

const POSIX: Record<string, string> = {
  Lower: 'lower',
  Upper: 'upper',
  ASCII: 'ascii',
  Alpha: 'alpha',
  Digit: 'digit',
  Alnum: 'alnum',
  Punct: 'punct',
  Graph: 'graph',
  Print: 'print',
  Blank: 'blank',
  Cntrl: 'cntrl',
  XDigit: 'xdigit',
  Space: 'space',
};

/**
 * Rewrites `\uXXXX`, `\p{Alpha}`-like names, `\Q…\E` and a leading `(?x)`. Class intersections would be silent literals, so they are refused
 * here.
 */
export function translatePattern(source: string): Translated {
  const flags = /^\(\?([imsx]+)\)/.exec(source);
  const extended = flags?.[1]?.includes('x') ?? false;
  const kept = flags?.[1]?.replaceAll('x', '') ?? '';
  let text = kept === '' ? '' : `(?${kept})`;
  let backtracks = false;
  let inClass = false;
  for (let i = flags ? flags[0].length : 0; i < source.length; ) {
    const char = source[i] as string;
    if (char === '\\') {
      if (!inClass && /[1-9k]/.test(source[i + 1] ?? '')) backtracks = true;
      const [replacement, length] = escape(source, i, inClass);
      text += replacement;
      i += length;
    } else if (inClass) {
      if (char === '&' && source[i + 1] === '&') fail('cascade.builtin.pattern', source, i);
      if (char === '[' && source[i + 1] === ':') {
        const end = source.indexOf(':]', i + 2);
        text += end < 0 ? char : source.slice(i, end + 2);
        i = end < 0 ? i + 1 : end + 2;
        continue;
      }
      if (char === ']') inClass = false;
      text += char;
      i++;
    } else if (char === '[') {
      const open = /^\[\^?\]?/.exec(source.slice(i, i + 3))?.[0] ?? char; // a `]` that comes first is a member
      inClass = true;
      text += open;
      i += open.length;
    } else if (char === '(' && source[i + 1] === '?') {
      if (/^\(\?(?:<?[=!]|>)/.test(source.slice(i, i + 4))) backtracks = true;
      text += '(?';
      i += 2;
    } else if (extended && /\s/.test(char)) {
      i++;
    } else if (extended && char === '#') {
      const end = source.indexOf('\n', i);
      i = end < 0 ? source.length : end + 1;
    } else {
      const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(source.slice(i, i + 24))?.[0] ?? char;
      text += quantifier;
      i += quantifier.length;
      if (/[*+?}]$/.test(quantifier) && quantifier !== '}' && source[i] === '+') backtracks = true;
    }
  }
  return { text, backtracks };
}

/** What a backslash at `i` becomes, and how much of the source it takes. */
function escape(source: string, i: number, inClass: boolean): [replacement: string, length: number] {
  const kind = source[i + 1];
  if (kind === 'Q') {
    const end = source.indexOf('\\E', i + 2);
    const quoted = source.slice(i + 2, end < 0 ? undefined : end);
    return [quoted.replace(/[\\.+*?()|[\]{}^$&#\s-]/g, quote), quoted.length + (end < 0 ? 2 : 4)];
  }
  if (kind === 'u') {
    const units = /^\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|^\\u([0-9a-fA-F]{4})/.exec(source.slice(i, i + 12));
    if (!units) return fail('cascade.builtin.pattern', source, i);
    const [whole, high, low, single] = units;
    const point =
      single ??
      String.fromCharCode(Number.parseInt(high as string, 16), Number.parseInt(low as string, 16))
        .codePointAt(0)
        ?.toString(16);
    return [`\\x{${point}}`, whole.length];
  }
  if (kind === 'p' || kind === 'P') {
    const name = /^\{(\w+)\}/.exec(source.slice(i + 2, i + 20));
    const posix = name?.[1] === undefined || !Object.hasOwn(POSIX, name[1]) ? undefined : POSIX[name[1]];
    if (name && posix) {
      const member = `[:${kind === 'P' ? '^' : ''}${posix}:]`;
      return [inClass ? member : `[${member}]`, 2 + name[0].length];
    }
  }
  return [source.slice(i, i + 2), 2];
}

function quote(char: string): string {
  return /\s/.test(char) ? `\\x{${char.charCodeAt(0).toString(16)}}` : `\\${char}`;
}
