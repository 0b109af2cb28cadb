// What the tree says about the tokens: which begin a statement or a clause, which braces are blocks, which words are names, which signs
// stand before their operand. The writer then needs the tokens only.
import { END, PUNCTUATOR, type Tokens, WORD } from '../1-parse/index.ts';
import type { Definition, Expression, Span, Statement } from '../ast.ts';
import { type AnyNode, childrenOf } from '../2-check/walk.ts';

export interface Layout {
  /** Tokens, by index, that begin a line of their own: statements, clauses of the head. */
  readonly lineStarts: ReadonlySet<number>;
  /** Tokens that open and close a block: braces, DO and END. */
  readonly blockOpens: ReadonlySet<number>;
  readonly blockCloses: ReadonlySet<number>;
  /** Words that are names or keys: they stay as they are written. */
  readonly names: ReadonlySet<number>;
  /** `-`, `+`, `!` before their operand. */
  readonly prefixes: ReadonlySet<number>;
  /** IN of a FOR, which is written as small as `for`. */
  readonly loopWords: ReadonlySet<number>;
  /** `? :` colons; all others stand right behind what they follow. */
  readonly spacedColons: ReadonlySet<number>;
}

export function layoutOf(tree: Definition, tokens: Tokens): Layout {
  const finder = new Finder(tokens);
  finder.head(tree);
  finder.statements(tree.body);
  if (tree.type === 'Rule' && tree.timeout) finder.statements(tree.timeout);
  finder.visit(tree);
  return finder;
}

class Finder implements Layout {
  readonly lineStarts = new Set<number>();
  readonly blockOpens = new Set<number>();
  readonly blockCloses = new Set<number>();
  readonly names = new Set<number>();
  readonly prefixes = new Set<number>();
  readonly loopWords = new Set<number>();
  readonly spacedColons = new Set<number>();
  readonly #tokens: Tokens;
  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  /** Each part of the head on a line of its own. */
  head(tree: Definition): void {
    for (const node of [tree.package, ...tree.imports]) if (node) this.#line(node.start);
    const after = [tree.package, ...tree.imports].reduce((end, node) => Math.max(end, node?.end ?? 0), 0);
    this.lineStarts.add(this.#at(after));
    if (tree.type === 'Procedure') {
      const [option] = tree.options;
      if (option) this.lineStarts.add(this.#at(option.start) - 1);
      return;
    }
    this.#line(tree.trigger.start);
    if (tree.activationConstraint) this.lineStarts.add(this.#at(tree.activationConstraint.start) - 1);
    if (tree.timeout) this.lineStarts.add(this.#timeout(tree.body.at(-1)?.end ?? tree.trigger.end));
  }

  statements(body: readonly Statement[]): void {
    for (const statement of body) this.#line(statement.start);
  }

  visit(node: AnyNode): void {
    (this.#table[node.type] as ((node: AnyNode) => void) | undefined)?.(node);
    for (const [name, value] of Object.entries(node)) {
      if (name.endsWith('Span') && name !== 'operatorSpan') this.#name(value as Span);
    }
    for (const child of childrenOf(node)) this.visit(child);
  }

  readonly #table: Record<string, (node: never) => void> = {
    Block: (node: Span & { body: readonly Statement[] }) => {
      this.blockOpens.add(this.#at(node.start));
      this.blockCloses.add(this.#last(node));
      this.statements(node.body);
    },
    Identifier: (node: Span) => this.#name(node),
    Name: (node: Span) => this.#name(node),
    Unary: (node: Span) => this.#prefix(node),
    NotCondition: (node: Span) => this.#prefix(node),
    Integer: (node: Span & { value: bigint }) => {
      if (node.value < 0n) this.#prefix(node);
    },
    For: (node: { variable: Span; collection: Span }) => {
      for (let at = this.#last(node.variable) + 1; this.#tokens.starts[at]! < node.collection.start; at += 1)
        if (this.#tokens.texts[at] === 'in') this.loopWords.add(at);
    },
    Ternary: (node: { then: Expression; otherwise: Expression }) => {
      let at = this.#last(node.then) + 1;
      while (this.#tokens.texts[at] !== ':' && this.#tokens.kinds[at] !== END) at += 1;
      this.spacedColons.add(at);
    },
  };

  #prefix(node: Span): void {
    const at = this.#at(node.start);
    if (this.#tokens.kinds[at] === PUNCTUATOR) this.prefixes.add(at);
  }

  #name(span: Span): void {
    const at = this.#at(span.start);
    if (this.#tokens.kinds[at] === WORD) this.names.add(at);
  }

  #line(start: number): void {
    this.lineStarts.add(this.#at(start));
  }

  /** The word TIMEOUT: the first behind the body, but for `;`. */
  #timeout(end: number): number {
    let at = this.#at(end);
    while (this.#tokens.texts[at] !== 'timeout' && this.#tokens.kinds[at] !== END) at += 1;
    return at;
  }

  /** The first token at or behind an offset. */
  #at(offset: number): number {
    const { starts, count } = this.#tokens;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The last token of a node. */
  #last(node: Span): number {
    return this.#at(node.end) - 1;
  }
}
