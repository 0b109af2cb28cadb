// The variables of one body: one function scope (language.md S1) and the blocks that open inside it (S5).
import type { Identifier, Span } from '../ast.ts';
import { didYouMean } from './hints.ts';
import type { Report } from './report.ts';

/** Limits the names of a body whose nearest declared one is searched. */
const MOST_SEARCHES = 100;

export interface ScopeOptions {
  /** Parameters of a procedure: never declared again. */
  readonly parameters: Iterable<string>;
  /** Event variables of a rule: may be declared again (S4). */
  readonly events: Iterable<string>;
  /** Variables of the service's state: there without a declaration, and never declared (S4). */
  readonly state?: Iterable<string>;
  /** Variables that are declared before the text begins. */
  readonly declared?: Iterable<string>;
  /** What to say of names that are not declared, where more is known of them. */
  readonly hints?: ReadonlyMap<string, string>;
  readonly report: Report;
}

export class Scope {
  readonly #parameters: ReadonlySet<string>;
  readonly #events: ReadonlySet<string>;
  readonly #state: ReadonlySet<string>;
  readonly #hints: ReadonlyMap<string, string>;
  readonly #report: Report;
  /** Declared up to here in the text. */
  readonly #declared: Set<string>;
  readonly #blocks: Set<string>[] = [];
  /** The nodes that read or assign a variable of the function itself, block variables left out. */
  readonly reads = new Set<object>();
  readonly writes = new Set<object>();
  #searches = 0;
  constructor({ parameters, events, state = [], declared = [], hints = new Map(), report }: ScopeOptions) {
    this.#parameters = new Set(parameters);
    this.#events = new Set(events);
    this.#state = new Set(state);
    this.#declared = new Set(declared);
    this.#hints = hints;
    this.#report = report;
  }

  /** Variables that the function must declare. */
  get variables(): string[] {
    return [...this.#declared].filter((name) => !this.#parameters.has(name) && !this.#events.has(name));
  }

  has(name: string): boolean {
    return this.#state.has(name) || this.#parameters.has(name) || this.#events.has(name) || this.#declared.has(name) || this.#inBlock(name);
  }

  /** Whether the name stands here for a variable of the state: parameters and block variables hide it. */
  isState(name: string): boolean {
    return this.#state.has(name) && !this.#parameters.has(name) && !this.#inBlock(name);
  }

  /** As `has`, with what is there without a declaration. */
  isVariable(name: string): boolean {
    return this.has(name) || name === 'log';
  }

  use(name: string, at: Span): void {
    if (!this.#inBlock(name)) this.reads.add(at);
    this.#require(name, at);
  }

  #require(name: string, at: Span): void {
    if (this.isVariable(name)) return;
    this.#report(at, 'cascade.lang.variable.undeclared', `'${name}' is not declared`, this.#hints.get(name) ?? this.#nearest(name));
  }

  /** The search takes each declared name: a text with thousands of wrong ones would take a minute. */
  #nearest(name: string): string | undefined {
    if (this.#searches >= MOST_SEARCHES) return undefined;
    this.#searches++;
    return didYouMean(name, [...this.#parameters, ...this.#events, ...this.#declared, ...this.#blocks.flatMap((block) => [...block])]);
  }

  assign(name: string, at: Span): void {
    if (name === 'log' && !this.has(name)) this.#report(at, 'cascade.lang.variable.redeclared', "'log' cannot be assigned");
    else this.#require(name, at);
    if (!this.#inBlock(name)) this.writes.add(at);
  }

  /** `var x` */
  declare(name: Identifier): void {
    if (this.#inBlock(name.name)) return;
    if (name.name === 'log') this.#report(name, 'cascade.lang.variable.redeclared', "'log' is always there");
    if (this.#parameters.has(name.name)) this.#report(name, 'cascade.lang.variable.redeclared', `'${name.name}' is a parameter`);
    if (this.isState(name.name))
      this.#report(name, 'cascade.lang.variable.redeclared', `'${name.name}' is a variable of the service's state`);
    this.#declared.add(name.name);
  }

  /** A variable that a statement makes without `var`; an existing one, a parameter too, is taken (E4). */
  declareImplicitly(name: string, at: Span): void {
    if (this.has(name)) return;
    if (name === 'log') this.#report(at, 'cascade.lang.variable.redeclared', "'log' is always there");
    this.#declared.add(name);
  }

  /** Opens a block with variables of its own for the time of `inside`. */
  block(names: readonly Identifier[], inside: () => void): void {
    const own = new Set<string>();
    for (const name of names) {
      if (this.#parameters.has(name.name)) this.#report(name, 'cascade.lang.variable.redeclared', `'${name.name}' is a parameter`);
      if (own.has(name.name)) this.#report(name, 'cascade.lang.variable.redeclared', `'${name.name}' is here twice`);
      own.add(name.name);
    }
    this.#blocks.push(own);
    inside();
    this.#blocks.pop();
  }

  #inBlock(name: string): boolean {
    return this.#blocks.some((block) => block.has(name));
  }
}
