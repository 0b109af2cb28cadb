// Regular expressions of users. They run on re2js only: its time is linear in the text, whatever the pattern.
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { fail } from '../errors.ts';
import { LocalValue } from './kinds.ts';
import { translatePattern } from './pattern-syntax.ts';

/** Longer ones take too long to compile. */
const MAX_LENGTH = 32_768;

/** Compiled patterns are pure functions of their text, so the last used ones are kept for the whole module: 100 of at most 1,000 characters. */
const KEPT = 100;
const KEPT_LENGTH = 1000;
const kept = new Map<string, Pattern>();

/** The language's RegExp. */
export class Pattern extends LocalValue {
  readonly typeName = 'RegExp';
  readonly source: string;
  readonly engine: RE2JS;

  /** Fails with the pattern error on bad or unsupported syntax. */
  constructor(source: string) {
    super();
    this.source = source;
    this.engine = compile(source);
  }

  /** The pattern itself, or that of a text. */
  static of(pattern: Pattern | string): Pattern {
    if (typeof pattern !== 'string') return pattern;
    let found = kept.get(pattern);
    if (found) kept.delete(pattern);
    else found = new Pattern(pattern);
    if (pattern.length <= KEPT_LENGTH) kept.set(pattern, found); // to the end: the first is the one not used for longest
    const [oldest] = kept.keys();
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    return found;
  }

  /** Whether it matches somewhere in the text. */
  test(text: string): boolean {
    return this.engine.test(text);
  }

  override text(): string {
    return this.source;
  }
  override same(other: unknown): boolean {
    return other instanceof Pattern && other.source === this.source;
  }
}

function compile(source: string): RE2JS {
  if (source.length > MAX_LENGTH) fail('cascade.builtin.pattern', `${source.slice(0, 40)}…`, MAX_LENGTH);
  const { text, lookbehind } = translatePattern(source);
  try {
    return RE2JS.compile(text, lookbehind ? RE2JS.LOOKBEHINDS : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const fragment = error instanceof RE2JSSyntaxException ? error.getPattern() : null;
    return fail('cascade.builtin.pattern', source, fragment === null ? source.length : Math.max(0, source.indexOf(fragment)));
  }
}
