// Regular expressions of users. They run on re2js, whose time is linear in the text; what needs backtracking runs on our own engine, whose
// steps are bounded.
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { fail } from '../errors.ts';
import { Backtracking, type Patience } from './backtracking/index.ts';
import { cutText } from './cut-text.ts';
import { LocalValue } from './kinds.ts';
import { instructionsIn, translatePattern } from './pattern-text/index.ts';

/** Longer ones take too long to compile. */
const MAX_LENGTH = 32_768;

/**
 * Compiled patterns are pure functions of their text, so the last used ones are kept for the whole module: 100 of at most 1,000 characters, and
 * of about ten megabytes in all.
 */
const KEPT = 100;
const KEPT_LENGTH = 1000;
const KEPT_INSTRUCTIONS = 200_000;
const kept = new Map<string, Pattern>();
let keptInstructions = 0;

/** What compiling takes for a character of a pattern, in turns of a loop: up to some 30 µs; and for an instruction that comes of it. */
const TURNS_A_CHARACTER = 200;
const TURNS_AN_INSTRUCTION = 20;
/** Larger programs take half a second and tens of megabytes. */
const MAX_INSTRUCTIONS = 100_000;
/** What the engine that backtracks takes for a character of a text at least, in turns of a loop as in steps of its own. */
const LEAST_A_CHARACTER = 4;
/** Steps of that engine in the time of a turn. */
const STEPS_A_TURN = 4;

/** What a search may cost, and who is told of what it takes: before it begins, so that it can be refused, and of the rest behind it. */
export interface SearchBounds {
  /** How many steps the engine that backtracks may make in the text. */
  patternSteps(text: string): number;
  /** @param turns of a loop, that take about as long */
  spend(turns: number): void;
}

/** Steps for a text: a long one may cost more. */
export const stepsFor = (steps: number, text: string): number => steps + LEAST_A_CHARACTER * text.length;

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
  /** What the linear engine reads; null where it needs the one that backtracks. */
  readonly linear: string | null;
  /** Instructions that it was compiled to. */
  readonly #size: number;

  /** Fails with the pattern error on bad or unsupported syntax. */
  constructor(source: string) {
    super();
    this.source = source;
    ({ engine: this.engine, linear: this.linear, size: this.#size } = compile(source));
  }

  /** What a search of the text takes, in turns of a loop: at most that where it is linear, at least that where it backtracks. */
  turns(text: string): number {
    return (this.linear === null ? LEAST_A_CHARACTER : this.#size) * text.length;
  }

  /** The pattern itself, or that of a text. */
  static of(pattern: Pattern | string, bounds: Pick<SearchBounds, 'spend'>): Pattern {
    if (typeof pattern !== 'string') return pattern;
    const found = kept.get(pattern) ?? compiled(pattern, bounds);
    if (pattern.length > KEPT_LENGTH || found.#size > KEPT_INSTRUCTIONS) return found;
    if (kept.delete(pattern)) keptInstructions -= found.#size;
    kept.set(pattern, found); // at the end: the first is the one not used for longest
    keptInstructions += found.#size;
    for (const [text, oldest] of kept) {
      if (kept.size <= KEPT && keptInstructions <= KEPT_INSTRUCTIONS) break;
      kept.delete(text);
      keptInstructions -= oldest.#size;
    }
    return found;
  }

  /** Whether the linear engine can run it; else no engine need be made to find out. */
  static isLinear(source: string): boolean {
    return !translatePattern(source).backtracks;
  }

  /** What compiling it takes, in turns of a loop. */
  static turnsToCompile(source: string): number {
    const { text, backtracks } = translatePattern(source);
    return TURNS_A_CHARACTER * source.length + TURNS_AN_INSTRUCTION * (backtracks ? 0 : Math.min(instructionsIn(text), MAX_INSTRUCTIONS));
  }

  /** Does what matches, within the bounds. @param of who asks: named when they are passed */
  within<T>(bounds: SearchBounds, of: string, text: string, match: (patience: Patience) => T): T {
    const announced = this.turns(text);
    bounds.spend(announced);
    const steps = bounds.patternSteps(text);
    const patience: Patience = { left: steps, of };
    try {
      return match(patience);
    } finally {
      const turns = (steps - patience.left) / STEPS_A_TURN;
      if (turns > announced) bounds.spend(turns - announced);
    }
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

function compiled(source: string, bounds: Pick<SearchBounds, 'spend'>): Pattern {
  if (source.length <= MAX_LENGTH) bounds.spend(Pattern.turnsToCompile(source)); // a longer one is refused at once
  return new Pattern(source);
}

function compile(source: string): Pick<Pattern, 'engine' | 'linear'> & { readonly size: number } {
  if (source.length > MAX_LENGTH) fail('cascade.builtin.pattern', `${cutText(source, 40)}…`, MAX_LENGTH);
  const { text, backtracks } = translatePattern(source);
  if (backtracks) {
    const engine = new Backtracking(source);
    return { engine, linear: null, size: engine.programSize() };
  }
  if (instructionsIn(text) > MAX_INSTRUCTIONS) fail('cascade.builtin.pattern', source, source.length);
  try {
    const engine = RE2JS.compile(text);
    return { engine, linear: text, size: engine.programSize() };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const fragment = error instanceof RE2JSSyntaxException ? error.getPattern() : null;
    return fail('cascade.builtin.pattern', source, fragment === null ? source.length : Math.max(0, source.indexOf(fragment)));
  }
}
