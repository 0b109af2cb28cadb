// Compiled conditions of events: a tree whose leaves are terms, each with its operand converted once where it is constant (language.md W4).
import type { CompareOperator, ConditionData, ExpressionData } from '../../compiler/types.ts';
import { encodeInner, isObject, type Value } from '../../stdlib/values/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import {
  type ConditionPath,
  dataScope,
  instanceScope,
  parseTest,
  parseWhereIn,
  type Predicate,
  type Scope,
  type Test,
} from '../../model/query/index.ts';
import { type Binds, compileExpression, constantOf, type Evaluate } from './expressions.ts';
import type { ConditionEnvironment } from './types.ts';

/** A variable of a condition: the kind of its value, and the type of its event's value. */
export interface Variable {
  readonly binds: 'event' | 'value';
  readonly type: TypeDefinition | null;
  /** A cache of the paths that conditions have used, so that many rules on one path share it. */
  readonly paths?: Map<string, ConditionPath>;
}
export type Variables = ReadonlyMap<string, Variable>;

/** A term on a path. `payload`: in the value of the variable's event; `event`: in the event object around it. */
export interface PathTerm {
  readonly op: 'path';
  readonly operator: CompareOperator;
  readonly variable: string;
  readonly source: 'payload' | 'event';
  /** The path, of kind `Json` where no type is declared: then language.md 4.7 decides, else the operand's conversion. */
  readonly path: ConditionPath;
  readonly operand: Operand;
}

/** The right side of a term. A constant is converted to a test, or to the error that every evaluation raises. */
export type Operand =
  | { readonly constant: true; readonly value: Value; readonly test: Test | CascadeError | null }
  | { readonly constant: false; readonly evaluate: Evaluate };

export type Term =
  | PathTerm
  | { readonly op: 'expression'; readonly operator: CompareOperator; readonly left: Evaluate; readonly right: Evaluate }
  | {
      readonly op: 'where';
      readonly variable: string;
      readonly binds: 'event' | 'value';
      readonly predicate: (value: Value) => Predicate;
      readonly evaluate: Evaluate;
      /** Whether a program gives the value: then it may be the decision itself. */
      readonly isAsked: boolean;
    };

export type Node = Term | { readonly op: 'and' | 'or'; readonly terms: readonly Node[] } | { readonly op: 'not'; readonly term: Node };

export function compileCondition(data: ConditionData, variables: Variables, outside: ConditionEnvironment): Node {
  const compile = (inner: ConditionData): Node => compileCondition(inner, variables, outside);
  switch (data.op) {
    case 'and':
    case 'or':
      return { op: data.op, terms: data.terms.map(compile) };
    case 'not':
      return { op: 'not', term: compile(data.term) };
    case 'where':
      return whereTerm(data.value, variables, outside);
    case 'compare':
      return compareTermOf(data, variables, outside);
  }
}

const bindsOf =
  (variables: Variables): Binds =>
  (name) =>
    variables.get(name)?.binds ?? null;

type Compare = Extract<ConditionData, { op: 'compare' }>;

function compareTermOf({ operator, left, right }: Compare, variables: Variables, outside: ConditionEnvironment): Term {
  const binds = bindsOf(variables);
  const bound = left.k === 'path' ? variables.get(left.root) : undefined;
  if (left.k !== 'path' || !bound)
    return { op: 'expression', operator, left: compileExpression(left, binds, outside), right: compileExpression(right, binds, outside) };
  const inPayload = bound.binds === 'value' || left.p[0] === 'value' || left.p[0] === 'newValue';
  const steps = bound.binds === 'value' || !inPayload ? left.p : left.p.slice(1);
  const path = steps.length === 0 ? WHOLE : sharedPath(steps.join('.'), inPayload, bound);
  const constant = constantOf(right);
  return {
    op: 'path',
    operator,
    variable: left.root,
    source: inPayload ? 'payload' : 'event',
    path,
    operand:
      constant === undefined
        ? { constant: false, evaluate: compileExpression(right, binds, outside) }
        : { constant: true, value: constant, test: constantTest(path, operator, constant) },
  };
}

function sharedPath(text: string, inPayload: boolean, { type, paths }: Variable): ConditionPath {
  if (!inPayload) return dataScope(text);
  const found = paths?.get(text) ?? pathOf(text, type);
  paths?.set(text, found);
  return found;
}

/** The path of the value itself, without a step into it. */
const WHOLE: ConditionPath = { ...dataScope('value'), steps: [] };

/**
 * The path of a text. Members that the type does not declare (of bulk events, encrypted properties) are treated as plain data, and so is
 * the external form of a scalar.
 */
function pathOf(text: string, type: TypeDefinition | null): ConditionPath {
  if (type === null || type.properties.get(text.split('.', 1)[0] as string)?.scalar?.toExternal !== undefined) return dataScope(text);
  try {
    const path = instanceScope(type)(text);
    return path.known ? path : dataScope(text);
  } catch (error) {
    if (error instanceof CascadeError) return dataScope(text);
    throw error;
  }
}

export const OPERATORS: Readonly<Record<CompareOperator, string>> = {
  '==': '$eq',
  '!=': '$ne',
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
  in: '$in',
  regex: '$regex',
  geonear: '$near',
  geointersects: '$geoIntersects',
  geowithin: '$geoWithin',
};
const COMPARED_AS_DATA: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in']);
const ORDERED: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** Whether language.md 4.7 decides the term, element by element. */
export const isComparedAsData = (path: ConditionPath, operator: CompareOperator): boolean =>
  path.kind === 'Json' && COMPARED_AS_DATA.has(operator);

/** The test of an operand; null where there is none: for plain data, and for an order with null, which is never true. */
export function operandTest(path: ConditionPath, operator: CompareOperator, operand: Value): Test | null {
  if (isComparedAsData(path, operator) || (operand === null && ORDERED.has(operator))) return null;
  return parseTest(path, OPERATORS[operator], operand);
}

function constantTest(path: ConditionPath, operator: CompareOperator, constant: Value): Test | CascadeError | null {
  try {
    return operandTest(path, operator, constant);
  } catch (error) {
    if (error instanceof CascadeError) return error;
    throw error;
  }
}

const NO_VARIABLE: readonly [string, Variable] = ['', { binds: 'value', type: null }];

/** A where-object over the single variable: over its value, or over the event object. */
function whereTerm(value: ExpressionData, variables: Variables, outside: ConditionEnvironment): Term {
  const [variable, { binds, type }] = [...variables][0] ?? NO_VARIABLE;
  const scope: Scope = binds === 'value' ? payloadScope(type) : eventScope(type);
  const parse = (where: Value): Predicate =>
    parseWhereIn(where, scope, { username: '', namespace: outside.namespace, now: (outside.clock ?? systemClock).now() });
  const constant = constantOf(value);
  const evaluate = compileExpression(value, bindsOf(variables), outside);
  const isAsked = value.k === 'asked';
  if (constant === undefined || encodeInner(constant).includes('ars_substitution'))
    return { op: 'where', variable, binds, predicate: parse, evaluate, isAsked };
  let parsed: Predicate | undefined;
  return {
    op: 'where',
    variable,
    binds,
    predicate: (where) => (isObject(where) ? (parsed ??= parse(where)) : parse(where)),
    evaluate,
    isAsked,
  };
}

const payloadScope =
  (type: TypeDefinition | null): Scope =>
  (text) =>
    pathOf(text, type);

const eventScope =
  (type: TypeDefinition | null): Scope =>
  (text) => {
    const [, name, rest] = /^(value|newValue)\.(.+)$/s.exec(text) ?? [];
    if (name === undefined || rest === undefined) return dataScope(text);
    const inner = pathOf(rest, type);
    return { ...inner, text, steps: [name, ...inner.steps], stored: text };
  };
