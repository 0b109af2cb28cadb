// Regular expressions of users. They run on re2js, whose time is linear in the text; what needs backtracking runs on our own engine, whose
// steps are bounded.
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { fail } from '../errors.ts';
import { Backtracking, type Patience } from './backtracking/index.ts';
import { LocalValue } from './kinds.ts';
import { translatePattern } from './pattern-syntax.ts';

/** Longer ones take too long to compile. */
const MAX_LENGTH = 32_768;

/** Compiled patterns are pure functions of their text, so the last used ones are kept for the whole module: 100 of at most 1,000 characters. */
const KEPT = 100;
const KEPT_LENGTH = 1000;
const kept = new Map<string, Pattern>();

/** What both engines have. */
export interface Engine {
  groupCount(): number;
  matches(text: string, patience: Patience): boolean;
  matcher(text: string, patience: Patience): Match;
}
/** A text and where in it the engine is. */
export interface Match {
  find(): boolean;
  start(): number;
  end(): number;
  groupCount(): number;
  group(index?: number): string | null;
}

/** The language's RegExp. */
export class Pattern extends LocalValue {
  readonly typeName = 'RegExp';
  readonly source: string;
  readonly engine: Engine;
  /** What the linear engine reads; null where it needs the other one. */
  readonly linear: string | null;
  readonly #size: number;

  /** Fails with the pattern error on bad or unsupported syntax. */
  constructor(source: string) {
    super();
    this.source = source;
    ({ engine: this.engine, linear: this.linear, size: this.#size } = compile(source));
  }

  /** What a search of the text takes, in turns of a loop, where its steps are not counted: at most that, in the worst case. */
  turns(text: string): number {
    return this.#size * text.length;
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
  test(text: string, patience: Patience): boolean {
    return this.engine.matcher(text, patience).find();
  }

  override text(): string {
    return this.source;
  }
  override same(other: unknown): boolean {
    return other instanceof Pattern && other.source === this.source;
  }
}

function compile(source: string): Pick<Pattern, 'engine' | 'linear'> & { readonly size: number } {
  if (source.length > MAX_LENGTH) fail('cascade.builtin.pattern', `${source.slice(0, 40)}…`, MAX_LENGTH);
  const { text, backtracks } = translatePattern(source);
  if (backtracks) return { engine: new Backtracking(source), linear: null, size: 0 };
  try {
    const engine = RE2JS.compile(text);
    return { engine, linear: text, size: engine.programSize() };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const fragment = error instanceof RE2JSSyntaxException ? error.getPattern() : null;
    return fail('cascade.builtin.pattern', source, fragment === null ? source.length : Math.max(0, source.indexOf(fragment)));
  }
}
