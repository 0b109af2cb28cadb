// `x = expr` in a SELECT computes over the row's properties and built-ins (language.md E7, E8): its calls are resolved, and what a row
// cannot give is told of. Names are properties of the row, but for those of lambdas.
import { AGGREGATES } from '../1-parse/index.ts';
import type { Call, Execute, Expression, Lambda, MethodCall, Span } from '../ast.ts';
import type { BuiltinInfo } from '../types.ts';
import { asksHost, type CallResolver, dottedPath } from './calls.ts';
import type { CallTarget } from './model.ts';
import type { Report } from './report.ts';
import { type AnyNode, childrenOf } from './walk.ts';

const ADVICE = 'read the properties first, and compute in the block of the SELECT or in a MAP';

/** Where the meaning of calls and names goes. */
export interface RowFindings {
  readonly calls: Map<Call | MethodCall | Execute, CallTarget>;
  readonly constants: Map<Expression, BuiltinInfo>;
}

export class RowExpressionChecker {
  readonly #resolver: CallResolver;
  readonly #found: RowFindings;
  readonly #report: Report;
  constructor(resolver: CallResolver, found: RowFindings, report: Report) {
    this.#resolver = resolver;
    this.#found = found;
    this.#report = report;
  }

  check(node: AnyNode): void {
    const visit = this.#visitors[node.type] as ((node: AnyNode) => boolean) | undefined;
    if (visit?.(node) === false) return;
    for (const child of childrenOf(node)) this.check(child);
  }

  /** One function a node type; false: what is below is not looked at. */
  readonly #visitors: Record<string, (node: never) => boolean> = {
    Call: (node: Call) => {
      const isBuiltin = this.#resolver.builtin(node.callee.text) !== undefined;
      this.#resolved(
        node,
        this.#resolver.call(node, () => !isBuiltin),
      );
      this.#aggregate(node);
      return true;
    },
    MethodCall: (node: MethodCall) => {
      this.#resolved(node, this.#resolver.method(node));
      return true;
    },
    Member: (node: Extract<Expression, { type: 'Member' }>) => {
      const info = this.#resolver.builtin(dottedPath(node)?.join('.') ?? '');
      if (info?.params.length !== 0 || info.effect !== 'pure') return true;
      this.#found.constants.set(node, info);
      return false;
    },
    Lambda: (node: Lambda) => {
      const own = new Set<string>();
      for (const parameter of node.parameters) {
        if (own.has(parameter.name)) this.#report(parameter, 'cascade.lang.variable.redeclared', `'${parameter.name}' is here twice`);
        own.add(parameter.name);
      }
      if (node.body.type !== 'Block') return true;
      return this.#refuse(node.body, 'a lambda in a computed property is an expression, not a block');
    },
    Postfix: (node: AnyNode) => this.#refuse(node, 'a computed property changes nothing'),
    ...Object.fromEntries(
      ['Select', 'Insert', 'Upsert', 'Update', 'Delete', 'Execute', 'Filter', 'Map'].map((type) => [
        type,
        (node: AnyNode) => this.#refuse(node, `a computed property holds no ${type.toUpperCase()}`),
      ]),
    ),
  };

  #resolved(node: Call | MethodCall, target: CallTarget): void {
    this.#found.calls.set(node, target);
    const name = node.type === 'Call' ? node.callee : node.method;
    if (target.kind === 'user') this.#refuse(name, 'a computed property calls built-ins only');
    else if (asksHost(target.info, node.arguments)) this.#refuse(name, `'${target.info.name}' cannot be asked for each row`);
  }

  /** `count()`, `count(*)`, `sum(path)`: one path, without a name. */
  #aggregate({ callee, arguments: args }: Call): void {
    if (!AGGREGATES.has(callee.text)) return;
    const least = callee.text === 'count' ? 0 : 1;
    if (args.named.length > 0 || args.positional.length > 1 || args.positional.length < least)
      this.#report(callee, 'cascade.lang.syntax', `${callee.text} takes one property`, `write x = ${callee.text}(property)`);
  }

  #refuse(at: Span, detail: string): false {
    this.#report(at, 'cascade.lang.syntax', detail, ADVICE);
    return false;
  }
}
