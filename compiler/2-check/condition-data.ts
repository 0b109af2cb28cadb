// Conditions on events as data: they are decided by the trigger index, outside the sandbox (design.md 5). Names are the event variables;
// a bare property on the left of a condition on a type's event means the instance's (language.md W2, W4).
import type { Arguments, Comparison, Condition, Expression, MethodCall } from '../ast.ts';
import type { ConditionData, ExpressionData, TriggerSpec } from '../types.ts';
import { textOf } from './asked.ts';
import { type CallResolver, dottedPath } from './calls.ts';
import { fold, toInnerTree } from './constants.ts';
import { didYouMean } from './hints.ts';
import type { Asked, CallTarget } from './model.ts';
import type { Report } from './report.ts';

/** The variables that a condition may use; all events of an OR have the same. */
export type Bound = readonly Pick<TriggerSpec, 'variable' | 'binds'>[];
const variablesOf = (bound: Bound): string[] => [...new Set(bound.map(({ variable }) => variable))];
type Table = { [T in Expression['type']]?: (node: Extract<Expression, { type: T }>, bound: Bound) => ExpressionData };
const NULL: ExpressionData = { k: 'const', v: null };

export class ConditionWriter {
  readonly #resolver: CallResolver;
  readonly #report: Report;
  readonly #table: Table = this.#makeTable();
  /** What of the conditions only the program can give, in their order. */
  readonly asked: Asked[] = [];
  constructor(resolver: CallResolver, report: Report) {
    this.#resolver = resolver;
    this.#report = report;
  }

  condition(node: Condition, bound: Bound): ConditionData {
    if (node.type === 'LogicalCondition') return { op: node.operator, terms: node.terms.map((term) => this.condition(term, bound)) };
    if (node.type === 'NotCondition') return { op: 'not', term: this.condition(node.operand, bound) };
    if (node.type === 'Comparison') return this.#comparison(node, bound);
    const path = this.#path(node.expression, bound, true);
    if (path) return { op: 'compare', operator: '==', left: path, right: { k: 'const', v: true } };
    return { op: 'where', value: this.expression(node.expression, bound) };
  }

  #comparison(node: Comparison, bound: Bound): ConditionData {
    const left = this.#path(node.left, bound, true) ?? this.expression(node.left, bound);
    return { op: 'compare', operator: node.operator, left, right: this.expression(node.right, bound) };
  }

  expression(node: Expression, bound: Bound): ExpressionData {
    const constant = fold(node);
    if (constant !== undefined) return { k: 'const', v: toInnerTree(constant) };
    const make = this.#table[node.type] as ((node: Expression, bound: Bound) => ExpressionData) | undefined;
    return make ? make(node, bound) : this.#ask(node, bound);
  }

  #makeTable(): Table {
    const one = (node: Expression, bound: Bound): ExpressionData => this.expression(node, bound);
    const all = (nodes: readonly Expression[], bound: Bound): ExpressionData[] => nodes.map((node) => this.expression(node, bound));
    return {
      Name: (node, bound) => this.#path(node, bound, false) ?? NULL,
      Member: (node, bound) =>
        this.#path(node, bound, false) ?? { k: 'index', a: one(node.object, bound), i: { k: 'const', v: node.property } },
      Subscript: (node, bound) => ({ k: 'index', a: one(node.object, bound), i: one(node.index, bound) }),
      Array: (node, bound) => ({ k: 'array', items: all(node.elements, bound) }),
      Object: (node, bound) => ({ k: 'object', members: node.members.map((member) => [member.key, one(member.value, bound)] as const) }),
      Unary: (node, bound) => ({ k: 'unary', op: node.operator, a: one(node.operand, bound) }),
      Binary: (node, bound) => ({ k: 'binary', op: node.operator, a: one(node.left, bound), b: one(node.right, bound) }),
      Logical: (node, bound) => ({ k: 'logical', op: node.operator, a: one(node.left, bound), b: one(node.right, bound) }),
      Ternary: (node, bound) => ({ k: 'ternary', c: one(node.condition, bound), a: one(node.then, bound), b: one(node.otherwise, bound) }),
      Call: (node, bound) => {
        const isVariable = (name: string): boolean => bound.some((binding) => binding.variable === name);
        return this.#call(node, this.#resolver.call(node, isVariable), node.arguments, bound);
      },
      MethodCall: (node: MethodCall, bound) => this.#call(node, this.#resolver.method(node), node.arguments, bound),
    };
  }

  #call(node: Expression, target: CallTarget, args: Arguments, bound: Bound): ExpressionData {
    if (target.kind === 'user') return this.#ask(node, bound);
    const { info, receiver } = target;
    const takesLambda = info.params.some((parameter) => parameter.lambda);
    if (info.effect === 'suspends' || info.ofRun || takesLambda || args.named.length > 0) return this.#ask(node, bound);
    const values = [...(receiver ? [receiver] : []), ...(args.positional as readonly Expression[])];
    return { k: 'call', name: info.name, args: values.map((value) => this.expression(value, bound)) };
  }

  /** A chain of names that begins with an event variable, or with a property of the only one, if it is a classic event. Null for anything else. */
  #path(node: Expression, bound: Bound, mayBeBare: boolean): ExpressionData | null {
    const steps = dottedPath(node);
    const [first, ...rest] = steps ?? [];
    if (first === undefined) return null;
    const names = variablesOf(bound);
    if (names.includes(first)) return { k: 'path', root: first, p: rest };
    const info = rest.length > 0 ? this.#resolver.builtin(steps!.join('.')) : undefined; // a constant such as Math.PI
    if (info?.params.length === 0 && info.effect === 'pure')
      return info.ofRun ? this.#ask(node, bound) : { k: 'call', name: info.name, args: [] };
    const [only, ...others] = names;
    if (mayBeBare && only !== undefined && others.length === 0 && bound.every(({ binds }) => binds === 'value'))
      return { k: 'path', root: only, p: [first, ...rest] };
    const hint = didYouMean(first, names) ?? (names.length > 0 ? `this condition sees ${names.join(', ')} only` : undefined);
    this.#report(node, 'cascade.lang.variable.undeclared', `'${first}' is not declared`, hint);
    return NULL;
  }

  #ask(node: Expression, bound: Bound): ExpressionData {
    const n = this.asked.push({ expression: node, variables: variablesOf(bound) }) - 1;
    return { k: 'asked', n, text: textOf(node) };
  }
}
