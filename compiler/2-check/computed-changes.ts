// UPDATEs whose new values are computed from the row that they change and from nothing else that may change meanwhile, where the program
// uses that row for nothing else: `SELECT ONE … AS c`, then `UPDATE T(n: c.n + 1) WHERE _id == c._id`. The service may compute such values
// itself, from the newest version of the row, so that runs that count on one instance need not wait for each other.
import type { Binary, Call, Condition, Expression, Member, Name, Select, Statement, Update } from '../ast.ts';
import type { ExpressionData } from '../types.ts';
import { dottedPath } from './calls.ts';
import type { Model } from './model.ts';
import { type AnyNode, childrenOf } from './walk.ts';

/** The name by which `set` refers to the row. */
const ROW = 'row';
/** The name by which `set` refers to values that do not depend on the row. */
const GIVEN = 'given';

/** How the values of an UPDATE follow from its row. */
export interface ComputedChange {
  /** The values that depend on the row, by the names of the properties. */
  readonly set: readonly (readonly [name: string, value: ExpressionData])[];
  /** What the program gives: `given.0`, `given.1`, … */
  readonly given: readonly Expression[];
}

export interface ComputedChanges {
  /** SELECTs that read a row for one such UPDATE only. */
  readonly selects: ReadonlySet<object>;
  readonly updates: ReadonlyMap<object, ComputedChange>;
}

type Known = Pick<Model, 'calls' | 'constants' | 'selects' | 'state' | 'mapReads'> & {
  /** Variables that hold events, which are never null. */
  readonly events: readonly string[];
};

/** Built-ins that such values may call with parts of the row: cheap ones, whatever they are given. */
export const COMPUTED_CALLS: ReadonlySet<string> = new Set(['abs', 'ceil', 'floor', 'max', 'min', 'round'].map((name) => `Math.${name}`));

const OPERATORS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=']);

/** @param body a whole body @param others what else may use its variables */
export function computedChanges(body: readonly Statement[], others: readonly object[], known: Known): ComputedChanges {
  const selects = new Set<object>();
  const updates = new Map<object, ComputedChange>();
  const straight = straightLine(body);
  for (const node of straight) {
    const read = readOf(node, known);
    if (!read) continue;
    const uses = usesOf(read.variable, read.select, [...body, ...others]);
    if (!uses) continue;
    const candidates = straight.filter((one): one is Update => one.type === 'Update' && isOn(one, read));
    const [update] = candidates;
    if (!update || candidates.length > 1) continue;
    const change = changeOf(update, read.variable, uses, known);
    if (!change) continue;
    selects.add(read.select);
    updates.set(update, change);
  }
  return { selects, updates };
}

/** Statements that run at most once: those of loops and of blocks that run apart are left out. */
function straightLine(body: readonly Statement[]): Statement[] {
  return body.flatMap((node): Statement[] => {
    if (node.type === 'If') {
      const otherwise = node.otherwise === null ? [] : node.otherwise.type === 'If' ? [node.otherwise] : node.otherwise.body;
      return [...straightLine(node.then.body), ...straightLine(otherwise)];
    }
    return [node];
  });
}

interface Read {
  readonly select: Select;
  readonly variable: string;
}

/** The SELECT of a single whole row of a type, and the variable that it gives. */
function readOf(node: Statement, { selects, state }: Known): Read | null {
  const isVar = node.type === 'Var';
  const select = isVar ? node.value : node;
  if (select?.type !== 'Select' || (select.cardinality !== 'one' && select.cardinality !== 'exactlyOne')) return null;
  const variable = isVar ? node.name.name : selects.get(select);
  if (variable === undefined || state.has(select) || (isVar && state.has(node.name))) return null;
  const isPlain = select.bindings === null && !select.fromSource && select.options.length === 0 && select.groupBy.length === 0;
  return isPlain && !select.processing && !select.processedBy && select.from.type === 'QualifiedName' ? { select, variable } : null;
}

/** `UPDATE T(…) WHERE _id == c._id` of the type that was read. */
function isOn({ target, where, values, options, onError, processedBy }: Update, { select, variable }: Read): boolean {
  if (!('pairs' in values) || options.length > 0 || onError || processedBy) return false;
  if (target.type !== 'QualifiedName' || select.from.type !== 'QualifiedName' || target.text !== select.from.text) return false;
  if (values.pairs.some(({ key }) => key === '_id' || key.startsWith('ars_'))) return false;
  if (where.type !== 'Comparison' || where.operator !== '==' || dottedPath(where.left)?.join('.') !== '_id') return false;
  return dottedPath(where.right)?.join('.') === `${variable}._id`;
}

/** Nodes that read the variable, with what each stands in; null: something else has that name, or declares it again. */
function usesOf(variable: string, select: Select, within: readonly object[]): Map<Name, AnyNode> | null {
  const uses = new Map<Name, AnyNode>();
  let declared = 0;
  const visit = (node: AnyNode, parent: AnyNode): boolean => {
    if (node === select) return (parent.type === 'Var' || ++declared === 1) && isFree(select.where, variable);
    if (node.type === 'Name') {
      if ((node as unknown as Name).name === variable) uses.set(node as unknown as Name, parent);
      return true;
    }
    if ((node as { name?: unknown }).name === variable && !(parent.type === 'Var' && ++declared === 1)) return false;
    return childrenOf(node).every((child) => visit(child, node));
  };
  const nowhere = { type: 'Body', start: 0, end: 0 } as AnyNode;
  return (within as AnyNode[]).every((node) => visit(node, nowhere)) && declared === 1 ? uses : null;
}

/** Whether no right side of the condition uses the variable: on a left side its name stands for the row itself. */
function isFree(where: Condition | null, variable: string): boolean {
  const uses = (node: AnyNode): boolean =>
    (node as { name?: unknown }).name === variable ||
    (node.type === 'Comparison' ? uses((node as unknown as { right: AnyNode }).right) : childrenOf(node).some(uses));
  return where === null || !uses(where);
}

function changeOf(update: Update, variable: string, uses: Map<Name, AnyNode>, known: Known): ComputedChange | null {
  if (!('pairs' in update.values)) return null;
  const writer = new ChangeWriter(variable, known);
  const set: (readonly [string, ExpressionData])[] = [];
  for (const { key, value } of update.values.pairs) {
    if (!writer.usesRow(value)) continue;
    const data = writer.write(value as Expression, false);
    if (!data) return null;
    set.push([key, data]);
  }
  for (const [name, parent] of uses) if (!writer.rows.has(name) && !isConstant(name, parent)) return null;
  return writer.rows.size > 0 ? { set, given: writer.given } : null;
}

/** What no change of the row touches: its id, and whether there is one. */
function isConstant(name: Name, parent: AnyNode): boolean {
  if (parent.type === 'Member') return (parent as unknown as { property: string }).property === '_id';
  if (parent.type !== 'Binary') return false;
  const { operator, left, right } = parent as unknown as Binary;
  return (operator === '==' || operator === '!=') && (left === name ? right : left).type === 'Null';
}

class ChangeWriter {
  /** Names that stand for the row in what was written. */
  readonly rows = new Set<Name>();
  readonly given: Expression[] = [];
  readonly #variable: string;
  readonly #known: Known;

  constructor(variable: string, known: Known) {
    this.#variable = variable;
    this.#known = known;
  }

  /** @param isBranch it may not be evaluated: what the program gives for it must not be able to fail */
  write(node: Expression, isBranch: boolean): ExpressionData | null {
    if (!this.usesRow(node)) return (isBranch ? this.#isTotal(node) : this.#isPure(node)) ? this.#give(node) : null;
    switch (node.type) {
      case 'Member':
        return this.#path(node);
      case 'Call':
        return this.#call(node, isBranch);
      case 'Array':
        return this.#with(node.elements, isBranch, (items) => ({ k: 'array', items }));
      case 'Object': {
        const names = node.members.map(({ key }) => key);
        const values = node.members.map(({ value }) => value);
        return this.#with(values, isBranch, (parts) => ({ k: 'object', members: parts.map((part, n) => [names[n] as string, part]) }));
      }
      case 'Unary':
        return this.#with([node.operand], isBranch, ([a]) => ({ k: 'unary', op: node.operator, a }));
      case 'Binary':
        if (!OPERATORS.has(node.operator)) return null;
        return this.#with([node.left, node.right], isBranch, ([a, b]) => ({ k: 'binary', op: node.operator, a, b }));
      case 'Logical':
        return this.#with([node.left, node.right], true, ([a, b]) => ({ k: 'logical', op: node.operator, a, b }));
      case 'Ternary':
        return this.#with([node.condition, node.then, node.otherwise], true, ([c, a, b]) => ({ k: 'ternary', c, a, b }));
      default:
        return null;
    }
  }

  #with(
    nodes: readonly Expression[],
    isBranch: boolean,
    make: (parts: readonly [ExpressionData, ExpressionData, ExpressionData]) => ExpressionData,
  ): ExpressionData | null {
    const parts: ExpressionData[] = [];
    for (const node of nodes) {
      const data = this.write(node, isBranch);
      if (!data) return null;
      parts.push(data);
    }
    return make(parts as unknown as readonly [ExpressionData, ExpressionData, ExpressionData]);
  }

  /** `c.n`, `c.stats.n`: a property of the row, or a part of one. */
  #path({ object, property }: Member): ExpressionData | null {
    const steps = [property];
    let root = object;
    for (; root.type === 'Member'; root = root.object) steps.unshift(root.property);
    if (root.type !== 'Name') return null;
    this.rows.add(root);
    return { k: 'path', root: ROW, p: steps };
  }

  #call(node: Call, isBranch: boolean): ExpressionData | null {
    const target = this.#known.calls.get(node);
    if (target?.kind !== 'builtin' || target.receiver !== null || !COMPUTED_CALLS.has(target.info.name)) return null;
    const { positional, named } = node.arguments;
    if (named.length > 0) return null;
    const { name } = target.info;
    return this.#with(positional as readonly Expression[], isBranch, (args) => ({ k: 'call', name, args }));
  }

  #give(node: Expression): ExpressionData {
    return { k: 'path', root: GIVEN, p: [String(this.given.push(node) - 1)] };
  }

  usesRow(node: AnyNode): boolean {
    return (
      (node.type === 'Name' && (node as unknown as Name).name === this.#variable) || childrenOf(node).some((child) => this.usesRow(child))
    );
  }

  /** Whether it may be evaluated twice, with the same value and without an effect. */
  #isPure(node: AnyNode): boolean {
    const { calls, constants, state, mapReads } = this.#known;
    if (constants.has(node as Expression)) return true;
    if (state.has(node) || mapReads.has(node) || !PURE.has(node.type)) return false;
    if (node.type !== 'Call' && node.type !== 'MethodCall') return childrenOf(node).every((child) => this.#isPure(child));
    const target = calls.get(node as never);
    if (target?.kind !== 'builtin' || target.info.effect !== 'pure' || !REPEATABLE.has(target.info.name)) return false;
    return target.receiver === null && childrenOf(node).every((child) => this.#isPure(child));
  }

  /** Whether it can be evaluated without an error, too. */
  #isTotal(node: Expression): boolean {
    const name = node.type === 'Member' ? node.object : node;
    if (name.type === 'Name') return this.#known.events.includes(name.name);
    return LITERALS.has(node.type);
  }
}

const LITERALS: ReadonlySet<string> = new Set(['Integer', 'Real', 'String', 'Boolean', 'Null']);
const PURE: ReadonlySet<string> = new Set([
  ...LITERALS,
  ...['Name', 'Interval', 'Array', 'Object', 'ObjectMember', 'Member', 'Subscript', 'Unary', 'Binary', 'Logical', 'Ternary'],
  ...['Call', 'Identifier', 'QualifiedName', 'Arguments'],
]);
/** Built-ins without parameters that give the same value for the length of a statement. */
const REPEATABLE: ReadonlySet<string> = new Set(['now']);
