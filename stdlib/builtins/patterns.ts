// Regular expressions (builtins.md 2 and 4). Which engine runs them is values/pattern.ts's affair; here a match is given its bound.
import { fail } from '../errors.ts';
import { Decimal, LocalValue, type Match, type Patience, Pattern, text, typeOf, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { grow, made, refuseLength } from './growth.ts';

/** All matches of a pattern in a text; `m[i]` is the i-th one's groups (language.md 4.8). */
export class Matcher extends LocalValue {
  readonly typeName = 'Matcher';
  readonly #groups: readonly Value[][];
  readonly #whole: boolean;
  #found = 0;

  constructor(context: BuiltinContext, pattern: Pattern, str: string) {
    super();
    const groups: Value[][] = [];
    pattern.within(context, 'matcher', str, (patience) => {
      for (const match of matches(pattern, str, patience)) {
        const count = match.groupCount() + 1;
        context.charge(16 * count);
        groups.push(Array.from({ length: count }, (_, i) => match.group(i)));
      }
    });
    this.#groups = groups;
    this.#whole = pattern.within(context, 'matcher', str, (patience) => pattern.engine.matches(str, patience));
  }

  get size(): number {
    return this.#groups.length;
  }
  get matchesWhole(): boolean {
    return this.#whole;
  }
  /** The groups of a match, the whole one first; null where there is no such match. */
  at(index: number): Value[] | null {
    return this.#groups[index]?.slice() ?? null;
  }
  /** Whether there is a next match; each call moves on by one. */
  find(): boolean {
    return this.#found < this.#groups.length && ++this.#found > 0;
  }
}

/** The engine at each match in order. */
function* matches(pattern: Pattern, str: string, patience: Patience): Generator<Match> {
  const engine = pattern.engine.matcher(str, patience);
  while (engine.find()) yield engine;
}

/** Parts of a replacement: text, or the number of a group, of which the pattern has as many. */
function parseReplacement(source: string, groups: number): (string | number)[] {
  const parts: (string | number)[] = [];
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string;
    const next = source[i + 1];
    if (char === '\\') {
      if (next === undefined) fail('cascade.builtin.pattern', source, i);
      parts.push(next);
      i++;
    } else if (char === '$') {
      if (next === undefined || next < '0' || next > '9' || Number(next) > groups) return fail('cascade.builtin.pattern', source, i);
      parts.push(Number(next));
      i++;
    } else parts.push(char);
  }
  return parts;
}

function replaceAll(context: BuiltinContext, str: string, pattern: Pattern, replacement: string): string {
  const parts = parseReplacement(replacement, pattern.engine.groupCount());
  let result = '';
  let last = 0;
  pattern.within(context, 'replace', str, (patience) => {
    for (const match of matches(pattern, str, patience)) {
      result += str.slice(last, match.start());
      for (const part of parts) result += typeof part === 'number' ? (match.group(part) ?? '') : part;
      refuseLength(result.length);
      last = match.end();
    }
  });
  return made(context, result + str.slice(last));
}

function split(context: BuiltinContext, str: string, pattern: Pattern, limit: number, patience: Patience): Value[] {
  if (limit === 0 || (str === '' && pattern.engine.matches(str, patience))) return [];
  const parts: Value[] = [];
  let last = 0;
  for (const match of matches(pattern, str, patience)) {
    const start = match.start();
    const end = match.end();
    if (start === end && (start === 0 || start === str.length)) continue; // between characters only
    grow(context, parts, 1);
    parts.push(str.slice(last, start));
    last = end;
    if (parts.length === limit) return parts;
  }
  parts.push(str.slice(last));
  return parts;
}

export const patterns: readonly Declaration[] = [
  {
    call: 'regExp(patternString: String) => RegExp',
    forms: 'F',
    about: 'Compiles a regular expression.',
    errors: ['cascade.builtin.pattern'],
    run: (context, source: string) => Pattern.of(source, context),
  },
  {
    call: 'RegExp(patternString: String) => RegExp',
    forms: 'F',
    about: 'The same as regExp.',
    errors: ['cascade.builtin.pattern'],
    run: (context, source: string) => Pattern.of(source, context),
  },
  {
    call: 'match(str: String, pattern: RegExp|String) => List',
    forms: 'FM',
    about: 'Every whole match in order; null when there is none.',
    errors: ['cascade.builtin.pattern', 'cascade.builtin.timeout'],
    run: (context, str: string, pattern: Pattern | string) => {
      const found: Value[] = [];
      const compiled = Pattern.of(pattern, context);
      compiled.within(context, 'match', str, (patience) => {
        for (const match of matches(compiled, str, patience)) {
          grow(context, found, 1);
          found.push(match.group());
        }
      });
      return found.length === 0 ? null : found;
    },
  },
  {
    call: 'matches(str: String, pattern: RegExp|String) => Boolean',
    forms: 'FM',
    about: 'Whether the whole text matches.',
    errors: ['cascade.builtin.pattern', 'cascade.builtin.timeout'],
    run: (context, str: string, pattern: Pattern | string) => {
      const compiled = Pattern.of(pattern, context);
      return compiled.within(context, 'matches', str, (patience) => compiled.engine.matches(str, patience));
    },
  },
  {
    call: 'search(str: String, pattern: RegExp|String) => Integer',
    forms: 'FM',
    about: 'The position of the first match, or -1.',
    errors: ['cascade.builtin.pattern', 'cascade.builtin.timeout'],
    run: (context, str: string, pattern: Pattern | string) => {
      const compiled = Pattern.of(pattern, context);
      return compiled.within(context, 'search', str, (patience) => {
        const match = compiled.engine.matcher(str, patience);
        return match.find() ? match.start() : -1;
      });
    },
  },
  {
    call: 'replace(str: String, pattern: RegExp|String, newSubStr: String|Number) => String',
    forms: 'FM',
    about: 'Replaces all matches; $0 to $9 stand for groups.',
    errors: ['cascade.builtin.pattern', 'cascade.builtin.timeout'],
    run: (context, str: string, pattern: Pattern | string, replacement: Value) => {
      if (replacement instanceof Decimal)
        fail('cascade.procedure.parameter.type', 'replace', 'newSubStr', 'String or Integer or Real', typeOf(replacement));
      return replaceAll(context, str, Pattern.of(pattern, context), text(replacement));
    },
  },
  {
    call: 'split(str: String, pattern: RegExp|String, limit: Integer = -1) => List',
    forms: 'FM',
    about: 'The parts between the matches, empty ones too; at most limit of them.',
    errors: ['cascade.builtin.pattern', 'cascade.builtin.timeout'],
    run: (context, str: string, pattern: Pattern | string, limit: number) => {
      const compiled = Pattern.of(pattern, context);
      return compiled.within(context, 'split', str, (patience) => split(context, str, compiled, limit, patience));
    },
  },
  {
    call: 'matcher(pattern: RegExp, str: String) => Matcher',
    forms: 'M',
    about: 'All matches with their groups, to be indexed.',
    errors: ['cascade.builtin.timeout'],
    run: (context, pattern: Pattern, str: string) => new Matcher(context, pattern, str),
  },
  {
    call: 'size(matcher: Matcher) => Integer',
    forms: 'M',
    about: 'The number of matches.',
    run: (_, matcher: Matcher) => matcher.size,
  },
  {
    call: 'matches(matcher: Matcher) => Boolean',
    forms: 'M',
    about: 'Whether the whole text matches.',
    run: (_, matcher: Matcher) => matcher.matchesWhole,
  },
  {
    call: 'find(matcher: Matcher) => Boolean',
    forms: 'M',
    about: 'Whether there is a next match; moves on with each call.',
    run: (_, matcher: Matcher) => matcher.find(),
  },
];
