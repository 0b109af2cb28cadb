// Effect inference: what may ask the host, call a user procedure or loop is emitted as a generator, all else as a plain function
// (design.md 4). The bodies of FILTER, MAP and lambdas are functions of their own: they count where they run, not where they stand.
import type { Call, Execute, Lambda, MethodCall, Select, Value } from '../ast.ts';
import { hasComputedAggregate } from './aggregates.ts';
import { asksHost } from './calls.ts';
import type { CallTarget } from './model.ts';
import { traitsOf } from './statement-traits.ts';
import { type AnyNode, childrenOf } from './walk.ts';

export class Effects {
  readonly #calls: ReadonlyMap<Call | MethodCall | Execute, CallTarget>;
  readonly #state: ReadonlySet<object>;
  readonly #known = new WeakMap<object, boolean>();
  readonly #mayHoldMaps: boolean;
  /** @param state nodes that stand for what the host keeps: the service's state, entries of Maps */
  constructor(calls: ReadonlyMap<Call | MethodCall | Execute, CallTarget>, state: ReadonlySet<object>, mayHoldMaps: boolean) {
    this.#mayHoldMaps = mayHoldMaps;
    this.#calls = calls;
    this.#state = state;
  }

  /** Whether the evaluation of this node, or of one of these, may suspend. */
  readonly suspends = (node: object | readonly object[] | null): boolean => {
    if (node === null) return false;
    if (Array.isArray(node)) return node.some((item: object) => this.suspends(item));
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const result = this.#infer(node as AnyNode);
    this.#known.set(node, result);
    return result;
  };

  #infer(node: AnyNode): boolean {
    if (traitsOf(node)?.suspends || this.#state.has(node)) return true;
    if (node.type === 'Lambda') return false;
    if (this.#mayHoldMaps && isSum(node)) return true;
    if (node.type === 'Filter' || node.type === 'Map') return this.suspends(lazyCollection(node as unknown as { collection: Value }));
    if ((node.type === 'Call' || node.type === 'MethodCall') && this.#callSuspends(node as Call | MethodCall)) return true;
    return this.suspends(childrenOf(node));
  }

  #callSuspends(node: Call | MethodCall): boolean {
    const target = this.#calls.get(node);
    if (!target || target.kind === 'user' || asksHost(target.info, node.arguments)) return true;
    if (target.receiver && target.info.maySuspend) return true;
    if (target.info.params.some((parameter) => parameter.sequence)) return true;
    if (this.#mayHoldMaps && target.info.contents) return true;
    return node.arguments.positional.some((value) => value.type === 'Lambda' && this.lambdaSuspends(value));
  }

  /** Whether a lambda's own body is a generator. */
  lambdaSuspends(node: Lambda): boolean {
    return this.suspends(node.body);
  }
}

/** A `+` that may put the text of a shared Map into another one: not with a number beside it. */
export function isSum(node: object): boolean {
  const { type, operator, left, right } = node as { type: string; operator?: string; left?: AnyNode; right?: AnyNode };
  return type === 'Binary' && operator === '+' && !NUMBERS.has(left?.type ?? '') && !NUMBERS.has(right?.type ?? '');
}
const NUMBERS: ReadonlySet<string> = new Set(['Integer', 'Real', 'Interval']);

/** What FILTER and MAP evaluate at once of their collection: of a SELECT that is read when elements are pulled, only what it asks for. */
function lazyCollection({ collection }: { collection: Value }): object | object[] {
  if (!isLazySelect(collection)) return collection;
  const { from, where, options } = collection;
  return [from, ...(where ? [where] : []), ...options];
}

/** Whether the rows of a collection are asked for when elements are pulled: computed aggregates are gathered at once. */
const isLazySelect = (node: Value): node is Select => isSequenceSelect(node) && !hasComputedAggregate(node);

/** A SELECT that is a Sequence where it is a collection (language.md E1). */
export function isSequenceSelect(node: Value): node is Select {
  if (node.type !== 'Select' || node.processing || node.processedBy) return false;
  return node.cardinality === null || node.cardinality === 'sequence';
}
