// Variables that are never read, and assignments whose value is never read: a walk of the body from its end to its beginning that knows at
// each place which variables are still read after it ("live"). Only assignments told of surely do nothing: what a lambda, a FILTER, a MAP or
// a processing block mentions counts as read everywhere, since these run at other times.
import type { Assignment, Block, If, Name, Statement, Try, VariableDeclaration } from '../ast.ts';
import type { Uses } from '../2-check/model.ts';
import type { Report } from '../2-check/report.ts';
import { traitsOf, valueStatements } from '../2-check/statement-traits.ts';
import { type AnyNode, childrenOf } from '../2-check/walk.ts';

export interface VariableOptions {
  readonly uses: Uses;
  /** Names that stand for a variable of a service's state, which outlives the run. */
  readonly state: ReadonlySet<object>;
  /** The last statement's value is the value of the body, so an assignment there is read. */
  readonly hasValue: boolean;
  /** Variables that are read when the body has ended. */
  readonly kept: ReadonlySet<string>;
  readonly report: Report;
}

type Live = ReadonlySet<string>;
const NONE: Live = new Set();

export function adviseVariables(body: readonly Statement[], options: VariableOptions): void {
  const tails = options.hasValue ? valueStatements(body) : new Set<Statement>();
  const seen = new Sightings(options.uses, tails);
  for (const statement of body) seen.visit(statement, false);
  const unread = new Set<string>();
  for (const [name, at] of seen.declared) {
    if (seen.read.has(name) || options.kept.has(name)) continue;
    unread.add(name);
    options.report(at, 'cascade.check.variable.unused', `'${name}' is never read`);
  }
  new Flow(options, seen, tails, unread).list(body, options.kept, NONE);
}

/** What is mentioned where, whatever the order. */
class Sightings {
  /** `var` by name, its first. */
  readonly declared = new Map<string, AnyNode>();
  readonly read = new Set<string>();
  /** Mentioned where statements run at another time. */
  readonly elsewhere = new Set<string>();
  readonly #uses: Uses;
  readonly #tails: ReadonlySet<object>;
  constructor(uses: Uses, tails: ReadonlySet<object>) {
    this.#uses = uses;
    this.#tails = tails;
  }

  visit(node: AnyNode, isApart: boolean): void {
    const isRead = this.#uses.reads.has(node);
    if (isRead || this.#uses.writes.has(node)) {
      const { name } = node as unknown as { name: string };
      if (isRead) this.read.add(name);
      if (isApart) this.elsewhere.add(name);
    }
    if (node.type === 'Var') this.#declaration(node as unknown as VariableDeclaration, isApart);
    if (node.type === 'Assign' && this.#tails.has(node)) this.#tail((node as unknown as Assignment).target as Name);
    if (node.type === 'Postfix') this.#tail((node as unknown as { target: Name }).target);
    // `n++` alone changes n and reads nothing
    const alone = node.type === 'ExpressionStatement' && !this.#tails.has(node) ? postfixTarget(node) : null;
    if (alone) return this.#mark(alone, isApart);
    for (const child of childrenOf(node)) this.visit(child, isApart || runsBlocksApart(node));
  }

  #declaration(node: VariableDeclaration, isApart: boolean): void {
    const { name } = node.name;
    if (!this.declared.has(name)) this.declared.set(name, node.name);
    if (this.#tails.has(node)) this.read.add(name);
    if (isApart) this.elsewhere.add(name);
  }

  #tail(target: Name): void {
    if (target.type === 'Name') this.read.add(target.name);
  }

  #mark(target: Name, isApart: boolean): void {
    if (isApart) this.elsewhere.add(target.name);
  }
}

function postfixTarget(node: AnyNode): Name | null {
  const { expression } = node as unknown as { expression: { type: string; target: Name } };
  return expression.type === 'Postfix' && expression.target.type === 'Name' ? expression.target : null;
}

/** Whether blocks of the node run at another time, or more than once within one statement. */
const runsBlocksApart = (node: AnyNode): boolean =>
  node.type === 'Lambda' || node.type === 'ProcessedBy' || traitsOf(node)?.runsBlocksApart === true;

class Flow {
  readonly #options: VariableOptions;
  readonly #seen: Sightings;
  readonly #tails: ReadonlySet<object>;
  readonly #unread: ReadonlySet<string>;
  constructor(options: VariableOptions, seen: Sightings, tails: ReadonlySet<object>, unread: ReadonlySet<string>) {
    this.#options = options;
    this.#seen = seen;
    this.#tails = tails;
    this.#unread = unread;
  }

  /** @param thrown what is read where an error leads to @returns what is read from the first statement on */
  list(statements: readonly Statement[], after: Live, thrown: Live): Live {
    return statements.reduceRight((live, statement) => this.#statement(statement, live, thrown), union(after, thrown));
  }

  #statement(node: Statement, after: Live, thrown: Live): Live {
    switch (node.type) {
      case 'Assign':
        return this.#assign(node, after, thrown);
      case 'Var':
        return this.#reads(node.value, without(after, node.name.name), thrown);
      case 'If':
        return this.#branches(node, after, thrown);
      case 'Try':
        return this.#try(node, after, thrown);
      case 'For':
        return this.#reads(node.collection, this.#loop([node.until], node.body, after, thrown), NONE);
      case 'While':
        return this.#loop([node.condition], node.body, after, thrown);
      case 'Return':
      case 'ExpressionStatement':
      case 'Recommendations':
      case 'Recommend':
      case 'Publish':
      case 'PublishRequest':
      case 'Create':
      case 'Drop':
      case 'Select':
      case 'Insert':
      case 'Upsert':
      case 'Update':
      case 'Delete':
      case 'Execute':
      case 'Filter':
      case 'Map':
        return this.#reads(node, after, thrown);
    }
  }

  #assign(node: Assignment, after: Live, thrown: Live): Live {
    const { target } = node;
    if (target.type !== 'Name' || !this.#options.uses.writes.has(target) || this.#options.state.has(target))
      return this.#reads(node, after, thrown);
    const { name } = target;
    const isRead = after.has(name) || this.#seen.elsewhere.has(name) || this.#tails.has(node) || this.#unread.has(name);
    if (!isRead) this.#options.report(node, 'cascade.check.assignment.unread', `the value given to '${name}' here is never read`);
    const before = this.#reads(node.value, without(after, name), thrown);
    return node.operator === '=' ? before : union(before, new Set([name]));
  }

  #branches(node: If, after: Live, thrown: Live): Live {
    const then = this.list(node.then.body, after, thrown);
    const { otherwise } = node;
    const other = !otherwise
      ? after
      : otherwise.type === 'If'
        ? this.#branches(otherwise, after, thrown)
        : this.list(otherwise.body, after, thrown);
    return this.#reads(node.condition, union(then, other), thrown);
  }

  #try(node: Try, after: Live, thrown: Live): Live {
    const end = node.finalizer ? this.list(node.finalizer.body, after, thrown) : after;
    const leaving = union(thrown, end);
    const handler = this.list(node.handler.body, end, leaving);
    return this.list(node.body.body, end, union(leaving, handler));
  }

  /** What a loop mentions may be read in its next turn: so one walk is enough, however deep loops are nested. */
  #loop(heads: readonly (AnyNode | null)[], body: Block, after: Live, thrown: Live): Live {
    const turn = [...heads, body].reduce<Live>((live, node) => this.#reads(node, live, NONE), union(after, thrown));
    this.list(body.body, turn, thrown);
    return turn;
  }

  #reads(node: AnyNode | null, live: Live, thrown: Live): Live {
    const found = new Set(live);
    for (const name of thrown) found.add(name);
    const visit = (inner: AnyNode): void => {
      const isVariable = this.#options.uses.reads.has(inner) || this.#options.uses.writes.has(inner);
      if (isVariable) found.add((inner as unknown as { name: string }).name);
      for (const child of childrenOf(inner)) visit(child);
    };
    if (node) visit(node);
    return found;
  }
}

function union(a: Live, b: Live): Live {
  if (b.size === 0) return a;
  return new Set([...a, ...b]);
}
function without(live: Live, name: string): Live {
  if (!live.has(name)) return live;
  const rest = new Set(live);
  rest.delete(name);
  return rest;
}
