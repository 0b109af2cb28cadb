// `$regex` of a condition: what RE2 and PCRE both read, so that it means the same in memory and in the store.
import { CascadeError } from '../../stdlib/errors.ts';
import { Pattern as Engine } from '../../stdlib/values/index.ts';
import { withinBudget, hostBounds } from './host-budget.ts';
import { toPcre } from './pcre.ts';

const SPENT = { spend: () => undefined };

export class Pattern {
  readonly #engine: Engine;
  /** For the store's engine; flags are in it. */
  readonly pcre: string;
  /** With what every match begins at the start of the text; empty where that is not known. */
  readonly prefix: string;

  private constructor(engine: Engine, pcre: string, prefix: string) {
    this.#engine = engine;
    this.pcre = pcre;
    this.prefix = prefix;
  }

  /**
   * @param options letters of `imsx`
   * @param spend is told before what compiling takes, in turns of a loop
   * @returns null when it is not of the common syntax: a wrong pattern, a back-reference, a look-around
   */
  static parse(source: string, options: string, spend: (turns: number) => void = () => undefined): Pattern | null {
    if (!/^[imsx]*$/.test(options)) return null;
    const text = options === '' ? source : `(?${[...new Set(options)].join('')})${source}`;
    const turns = turnsToCompile(text);
    if (turns === null) return null;
    spend(turns);
    try {
      const engine = Engine.of(text, SPENT);
      const pcre = engine.linear === null ? null : toPcre(engine.linear);
      return pcre === null ? null : new Pattern(engine, pcre, options === '' ? prefixOf(source) : '');
    } catch (error) {
      if (error instanceof CascadeError) return null;
      throw error;
    }
  }

  search(text: string): boolean {
    const engine = this.#engine;
    return withinBudget({ builtin: null, args: [text, engine] }, () =>
      engine.within(hostBounds, '$regex', text, (patience) => engine.test(text, patience)),
    );
  }
}

/** Null where it is no pattern, or one that backtracks, which is not compiled to be refused. */
function turnsToCompile(text: string): number | null {
  try {
    return Engine.isLinear(text) ? Engine.turnsToCompile(text) : null;
  } catch (error) {
    if (error instanceof CascadeError) return null;
    throw error;
  }
}

/** The letters after `^` that are certain; a quantifier takes back the one before it, and an alternative all of them. */
function prefixOf(source: string): string {
  if (!source.startsWith('^') || source.includes('|')) return '';
  const letters = /^\^((?:[A-Za-z0-9_ /:;,@#"'=<>&%~!-]|\\[-./$^+*?()[\]{}])*)/.exec(source)?.[1] ?? '';
  const next = source[letters.length + 1];
  const plain = letters.replace(/\\(.)/g, '$1');
  return next !== undefined && '*?{+'.includes(next) ? plain.slice(0, -1) : plain;
}
