// Statements and triggers on types that are known: their properties, in value sets, conditions, orders and groups (language.md 2.5, 5.5 to 5.9).
import type { Condition, Expression, Insert, Pair, Path, Ref, Select, Span, Update, Upsert } from '../../compiler/ast.ts';
import { type AnyNode, childrenOf, didYouMean, dottedPath, isSystemResource, resultVariable } from '../../compiler/index.ts';
import { isScalar, named } from '../kinds.ts';
import type { TypeShape } from '../type-environment.ts';
import { type CheckContext, isSystemProperty, onlyKind } from './context.ts';
import { checkMembership } from './operations.ts';
import { misfit } from './values.ts';

/** The type that a reference names; tells of a type that is not there where all are known. */
export function typeOf(context: CheckContext, ref: Ref): TypeShape | null {
  if (ref.type !== 'QualifiedName') return null;
  return typeNamed(context, ref, context.model.names.type(ref.text));
}
export function typeNamed({ environment, report }: CheckContext, at: Span, name: string): TypeShape | null {
  const found = environment.types.get(name);
  if (found) return found;
  const isOurs = isSystemResource(name) || /^(?:system\.|Ars[A-Z])/.test(name);
  const hint = didYouMean(name, environment.types.keys());
  if (!isOurs && environment.complete.types) report(at, 'type.unknown', `there is no type '${name}'`, hint);
  return null;
}

// ---------------------------------------------------------------- values

export function checkWrite(context: CheckContext, node: Insert | Upsert | Update): void {
  const type = typeOf(context, node.target);
  if (node.type === 'Update') checkCondition(context, node.where, type, null);
  if (!type || !('pairs' in node.values)) return;
  const { pairs } = node.values;
  for (const pair of pairs) checkPair(context, pair, type);
  if (node.type !== 'Insert') return;
  const absent = [...type.properties].filter(([name, { required }]) => required && !pairs.some((pair) => pair.key === name));
  for (const [name] of absent)
    context.report(node.target, 'property.required', `${named({ name: 'Object', type: type.name })} needs '${name}'`);
}

function checkPair(context: CheckContext, pair: Pair, type: TypeShape): void {
  const property = type.properties.get(pair.key);
  if (!property) return void reportUnknown(context, pair.keySpan, pair.key, type);
  if (property.required && pair.value.type === 'Null')
    return context.report(pair.value, 'property.required', `'${pair.key}' of ${type.name} must not be null`);
  const wrong = misfit(pair.value, property, context.knownOf);
  if (wrong !== null) context.report(pair.value, 'property.type', `'${pair.key}' of ${type.name}: ${wrong}`);
}

function reportUnknown(context: CheckContext, at: Span, name: string, type: TypeShape): void {
  if (isSystemProperty(name)) return;
  context.report(at, 'property.unknown', `${type.name} has no property '${name}'`, didYouMean(name, type.properties.keys()));
}

// ---------------------------------------------------------------- queries

const UNSORTABLE: ReadonlySet<string> = new Set(['Decimal', 'Currency', 'ResourceReference', 'Object']);

export function checkSelect(context: CheckContext, node: Select): void {
  const type = node.fromSource ? null : typeOf(context, node.from);
  if (!type) return;
  const variable = resultVariable(node)?.name ?? null;
  if (node.where) checkCondition(context, node.where, type, variable);
  const made = new Set((node.bindings ?? []).flatMap((binding) => (binding.value ? [binding.path.text] : [])));
  for (const binding of node.bindings ?? []) if (!binding.value) checkPath(context, binding.path, type, variable);
  for (const path of node.groupBy) checkPath(context, path, type, variable);
  for (const { path } of node.orderBy) {
    if (made.has(path.text)) continue;
    const property = checkPath(context, path, type, variable);
    if (property && (property.multi || UNSORTABLE.has(property.type)))
      context.report(
        path,
        'property.type',
        `a result cannot be ordered by '${path.text}', which is ${property.multi ? 'an array' : `of type ${property.type}`}`,
      );
  }
}

const checkPath = (context: CheckContext, path: Path, type: TypeShape, variable: string | null) =>
  lookUp(
    context,
    path,
    path.parts.map((part) => part.name),
    type,
    variable,
  );

/** The left sides of a condition are properties; on the right are values for them. */
export function checkCondition(context: CheckContext, node: Condition, type: TypeShape | null, variable: string | null): void {
  if (!type) return;
  if (node.type === 'LogicalCondition') for (const term of node.terms) checkCondition(context, term, type, variable);
  else if (node.type === 'NotCondition') checkCondition(context, node.operand, type, variable);
  else if (node.type === 'Comparison') {
    const steps = dottedPath(node.left);
    const property = steps && lookUp(context, node.left, steps, type, variable);
    if (property && COMPARED.has(node.operator)) checkOperand(context, node.right, property);
    if (property && node.operator === 'regex') checkSearched(context, node.left, property);
    // the operand of a query is data, and a Sequence becomes an array on the way
    if (node.operator === 'in' && onlyKind(context, node.right)?.name !== 'Sequence') checkMembership(context, node.right);
  } else if (context.model.barePaths.has(node.expression)) {
    const steps = dottedPath(node.expression);
    if (steps) lookUp(context, node.expression, steps, type, variable);
  }
}
const COMPARED: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** Of these the operand converts as a stored value would; a Currency is also compared with plain numbers, a String with anything (language.md W9). */
const OPERANDS: ReadonlySet<string> = new Set(['Integer', 'Real', 'Boolean', 'DateTime']);

function checkOperand(context: CheckContext, node: Expression, property: Found): void {
  const wrong =
    property.multi || !OPERANDS.has(property.type) ? null : misfit(node, { type: property.type, multi: false }, context.knownOf);
  if (wrong !== null)
    context.report(node, 'property.type', `this is compared with ${/^[AEIO]/.test(property.type) ? 'an' : 'a'} ${property.type}: ${wrong}`);
}

/** A pattern is searched in Strings alone (language.md W7). */
function checkSearched(context: CheckContext, at: Span, { type }: Found): void {
  if (isScalar(type) && type !== 'String')
    context.report(at, 'property.type', `regex searches a String, and this is ${/^[AEIO]/.test(type) ? 'an' : 'a'} ${type}`);
}

interface Found {
  readonly type: string;
  readonly multi: boolean;
}
/** The property at the end of a path; tells of a step that is not there. Null for what is not known. */
function lookUp(context: CheckContext, at: Span, path: readonly string[], type: TypeShape, variable: string | null): Found | null {
  const steps = path[0] === variable && path.length > 1 ? path.slice(1) : path;
  let shape: TypeShape | undefined = type;
  let found: Found | null = null;
  for (const step of steps) {
    if (!shape) return null;
    const property = shape.properties.get(step);
    if (!property) {
      reportUnknown(context, at, step, shape);
      return null;
    }
    found = property;
    shape = context.environment.types.get(property.type);
  }
  return found;
}

// ---------------------------------------------------------------- triggers

/** The conditions of a rule: of each event, on an instance or on what the event carries; of the rule, and between events. */
export function checkTriggers(context: CheckContext): void {
  const { definition, rule } = context.model;
  if (definition.type !== 'Rule' || !rule) return;
  const events: EventVariable[] = [];
  const visit = (node: object): void => {
    const trigger = node as { type?: string; where?: Condition | null; target?: Ref; path?: Span };
    if (trigger.type && SINGLE.has(trigger.type)) {
      const spec = rule.triggers[events.length];
      const match = spec && /^\/types\/(.+)\/(?:insert|update|delete|request)$/.exec(spec.paths[0] ?? '');
      const type = match ? typeNamed(context, trigger.target ?? trigger.path ?? definition, match[1] ?? '') : null;
      const event: EventVariable = { variable: spec?.variable ?? '', binds: spec?.binds ?? 'event', type };
      events.push(event);
      if (trigger.where) checkEventCondition(context, trigger.where, [event]);
      return;
    }
    for (const key of ['trigger', 'branches', 'left', 'right'] as const) {
      const inner = (node as Record<string, unknown>)[key];
      for (const one of Array.isArray(inner) ? (inner as object[]) : inner ? [inner] : []) visit(one);
    }
    const { constraint } = node as { constraint?: Condition | null };
    if (constraint) checkEventCondition(context, constraint, distinct(events));
  };
  visit(definition.trigger);
  if (definition.where) checkEventCondition(context, definition.where, distinct(events));
}
interface EventVariable {
  readonly variable: string;
  readonly binds: 'event' | 'value';
  /** Null: what it carries is not known. */
  readonly type: TypeShape | null;
}
/** Events of an OR share a variable: then what it carries is known only if they are about one type. */
function distinct(events: readonly EventVariable[]): EventVariable[] {
  const found = new Map<string, EventVariable>();
  for (const event of events) {
    const before = found.get(event.variable);
    found.set(event.variable, before && before.type !== event.type ? { ...event, type: null } : event);
  }
  return [...found.values()];
}
const SINGLE: ReadonlySet<string> = new Set(['EventTrigger', 'TypeTrigger', 'TopicTrigger', 'SourceTrigger', 'Before']);

function checkEventCondition(context: CheckContext, node: Condition, events: readonly EventVariable[]): void {
  if (node.type === 'LogicalCondition') for (const term of node.terms) checkEventCondition(context, term, events);
  else if (node.type === 'NotCondition') checkEventCondition(context, node.operand, events);
  else if (node.type === 'Comparison') {
    const found = eventProperty(context, node.left, events, true);
    checkPaths(context, node.right, events);
    if (found && COMPARED.has(node.operator)) checkOperand(context, node.right, found);
  } else eventProperty(context, node.expression, events, true);
}

/** The paths of an expression that begin with an event's variable. */
function checkPaths(context: CheckContext, node: AnyNode, events: readonly EventVariable[]): void {
  if (dottedPath(node as Expression)) eventProperty(context, node as Expression, events, false);
  else for (const child of childrenOf(node)) if (child.type !== 'QualifiedName') checkPaths(context, child, events);
}

/** Bulk events carry another object than an instance, whose properties are `count`, `qual` and `ars_bulkOperation`. */
function eventProperty(context: CheckContext, node: Expression, events: readonly EventVariable[], mayBeBare: boolean): Found | null {
  const path = dottedPath(node);
  if (!path) return null;
  const event = events.find(({ variable }) => variable === path[0]) ?? (mayBeBare && events.length === 1 ? events[0] : undefined);
  if (!event?.type) return null;
  const isRooted = path[0] === event.variable;
  let steps = isRooted ? path.slice(1) : path;
  if (event.binds === 'event') {
    if (!isRooted || (steps[0] !== 'value' && steps[0] !== 'newValue')) return null;
    steps = steps.slice(1);
  }
  if (steps.length === 0 || steps[0] === 'count' || steps[0] === 'qual') return null;
  return lookUp(context, node, steps, event.type, null);
}
