// FOR, WHILE, FILTER, MAP and the recommendation statement (language.md 5.2, 5.3, 5.15). An element is there at once (`$step`), or it
// is pulled, which may ask the host (`$pull`). Every turn uses fuel, so that a run can be halted between two turns.
import type * as es from 'estree';
import type { Expression, Filter, For, Identifier, MapLoop, Recommendations, Span, Value, While } from '../ast.ts';
import { isSequenceSelect } from '../2-check/effects.ts';
import * as b from './build.ts';
import { type ModuleWriter, type Tail, variable } from './context.ts';
import { endingInValue } from './calls.ts';
import { emitRows } from './select.ts';

/** `if (--$.fuel < 0) yield* $slice($);` */
export function fuel(at: Span, module: ModuleWriter): es.Statement {
  const spent: es.Expression = { type: 'UpdateExpression', operator: '--', prefix: true, argument: b.field(b.id('$'), 'fuel') };
  const test: es.Expression = { type: 'BinaryExpression', operator: '<', left: spent, right: b.literal(0) };
  return b.when(test, b.statement(b.delegate(module.helper('slice', at, b.id('$')))));
}

export interface Loop {
  readonly at: Span;
  /** The values that are gone through: anything that `$iterate` takes. */
  readonly collection: es.Expression;
  readonly variable: Identifier | null;
  readonly until: Expression | null;
  readonly body: () => es.Statement[];
  /** What the variable holds, from the element; the element itself without it. */
  readonly element?: (value: es.Expression) => es.Expression;
}

export function emitLoop(loop: Loop, module: ModuleWriter): es.Statement[] {
  return module.again(() => emitTurns(loop, module));
}
function emitTurns({ at, collection, variable: name, until, body, element }: Loop, module: ModuleWriter): es.Statement[] {
  const iterator = module.name('i');
  const step = module.helper('step', at, b.id(iterator));
  const pull = b.delegate(module.helper('pull', at, b.id('$'), b.id(iterator)));
  const current = module.helper('value', at, b.id(iterator));
  const turn: es.Statement[] = [fuel(at, module)];
  if (name) turn.push(b.declare('let', [variable(name.name).name, element ? element(current) : current]), ...module.traceOf(name));
  if (until) {
    const close = b.statement(b.delegate(module.helper('close', until, b.id('$'), b.id(iterator))));
    turn.push(b.when(module.truth(until), b.block([close, b.leave])));
  }
  turn.push(...body());
  // An error leaves the loop, and a TRY around it may go on with the run: what is open at the host is closed.
  const error = module.name('e');
  const left = b.statement(b.delegate(module.helper('left', at, b.id('$'), b.id(iterator), b.id(error))));
  const handler: es.CatchClause = { type: 'CatchClause', param: b.id(error), body: b.block([left]) };
  const turns: es.TryStatement = {
    type: 'TryStatement',
    block: b.block([b.loop(b.logical('||', step, pull), turn)]),
    handler,
    finalizer: null,
  };
  return [b.declare('const', [iterator, module.helper('iterate', at, b.id('$'), collection)]), turns];
}

export function emitFor(node: For, module: ModuleWriter): es.Statement[] {
  return emitLoop(
    {
      at: node.collection,
      collection: emitCollection(node.collection, module),
      variable: node.variable,
      until: node.until,
      body: () => module.statements(node.body.body, 'none'),
    },
    module,
  );
}

/** A SELECT as a collection is read page by page (language.md Q1). */
export function emitCollection(node: Value, module: ModuleWriter): es.Expression {
  return isSequenceSelect(node) ? emitRows(node, module) : module.value(node);
}

export function emitWhile(node: While, module: ModuleWriter): es.Statement[] {
  return module.again(() => [b.loop(module.decision(node.condition), [fuel(node, module), ...module.statements(node.body.body, 'none')])]);
}

const BODY_SUSPENDS = 1;
const UNTIL_SUSPENDS = 2;

/** A lazy sequence: the body is a function of its own that runs when an element is pulled (Q2). */
export function emitLazy(node: Filter | MapLoop, module: ModuleWriter): es.Expression {
  const collection = emitCollection(node.collection, module);
  const param = variable(node.variable.name);
  const closure = (suspends: boolean, make: () => es.Statement[]): es.Expression => {
    const statements = module.again(() => module.body(make));
    return suspends ? b.generator([param], statements) : b.arrow([param], b.block(statements));
  };
  const bodySuspends = module.suspends(node.body);
  const body = closure(bodySuspends, () => endingInValue(module.statements(node.body.body, 'value')));
  const { until } = node;
  const untilSuspends = module.suspends(until);
  const end = until ? closure(untilSuspends, () => [b.returns(module.truth(until))]) : b.literal(null);
  const flags = b.literal((bodySuspends ? BODY_SUSPENDS : 0) | (untilSuspends ? UNTIL_SUSPENDS : 0));
  return module.helper(node.type === 'Filter' ? 'filter' : 'map', node, b.id('$'), collection, body, end, flags);
}

export function emitRecommendations(node: Recommendations, tail: Tail, module: ModuleWriter): es.Statement[] {
  const result = variable(node.result.name);
  // Inside MATCH the candidate, or a variable of a block, may have the name of the result.
  const list = module.temporary();
  const collection = module.temporary(); // evaluated before the result is emptied, which it may be about
  const evaluated = b.statement(b.assign(collection, emitCollection(node.collection, module)));
  module.recommended.set(node, list);
  const loop = emitLoop(
    {
      at: node.collection,
      collection,
      variable: node.variable,
      until: node.until,
      body: () => module.statements(node.body.body, 'none'),
    },
    module,
  );
  const made = b.statement(b.assign(result, b.assign(list, b.array([]))));
  return [evaluated, made, ...loop, ...(tail === 'value' ? [b.returns(result)] : [])];
}
