// WHEN and BEFORE (language.md 2.2).
import type { BeforeClause, Condition, CorrelationTrigger, Identifier, SingleTrigger, StringLiteral, Trigger, WhenClause } from '../ast.ts';
import { condition, where } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { alias, qualifiedName } from './names.ts';
import { STRING } from './tokens.ts';
import { isOperation, startsSingle, startsTrigger } from './trigger-words.ts';

export function whenClause(p: Cursor): WhenClause {
  const start = p.start();
  p.take();
  return p.within({ trigger: true }, () => {
    const found = trigger(p);
    const clause = expectation(p);
    if (clause && found.type === 'CorrelationTrigger')
      p.soft(clause.interval, 'EXPECT waits for single events, not for events that belong together');
    return p.node(start, { type: 'When', trigger: found, expect: found.type === 'CorrelationTrigger' ? null : clause });
  });
}

function trigger(p: Cursor): Trigger {
  const start = p.start();
  const first = term(p);
  if (startsOperator(p)) return correlation(p, start, first);
  if (first.type === 'CorrelationTrigger') return first;
  const branches = [first];
  while (joins(p, 'or')) {
    p.take();
    branches.push(single(p));
  }
  const constraint = constrainTo(p);
  if (startsOperator(p)) notMixed(p);
  if (branches.length === 1 && !constraint) return first;
  return p.node(start, { type: 'MergeTrigger', branches, constraint });
}

type Term = SingleTrigger | CorrelationTrigger;

/** OR, AND and AFTER are names when something is assigned to them. */
const joins = (p: Cursor, word: string): boolean =>
  p.at(word) && (startsTrigger(p, 1) || (!p.isPlainName() && !p.isFresh() && p.isWord(1)));
const startsOperator = (p: Cursor): boolean => p.at('before') || joins(p, 'after') || joins(p, 'and');

function term(p: Cursor): Term {
  if (!p.at('(')) return single(p);
  const start = p.start();
  const inside = (): Term =>
    p.within({ brackets: true, trigger: true }, () => {
      const first = term(p);
      if (first.type !== 'CorrelationTrigger' && !startsOperator(p))
        p.missing("'BEFORE', 'AFTER' or 'AND'", 'parentheses hold two events that belong together');
      return startsOperator(p) ? correlation(p, start, first) : first;
    });
  return p.group('(', inside, () => p.giveUp());
}

/** `A BEFORE B WITHIN t AND C WITHIN u`: to the left, each pair with its own interval. */
function correlation(p: Cursor, start: number, first: Term): CorrelationTrigger {
  return p.chained(() => {
    let left: Term = first;
    do {
      const operator = p.text() as CorrelationTrigger['operator'];
      p.take();
      const right = term(p);
      if (joins(p, 'or')) notMixed(p);
      p.expect('within', `${operator.toUpperCase()} needs an interval: … WITHIN 5 seconds`);
      const within = p.grammar.expression(p);
      left = p.node(start, { type: 'CorrelationTrigger', operator, left, right, within, constraint: constrainTo(p) });
      p.grow();
    } while (startsOperator(p));
    if (joins(p, 'or')) notMixed(p);
    return left;
  });
}

function notMixed(p: Cursor): never {
  p.fail('OR cannot be mixed with BEFORE, AFTER and AND', 'write a rule for each');
}

function constrainTo(p: Cursor): Condition | null {
  if (!p.at('constrain') || !p.at('to', 1)) return null;
  p.take();
  p.take();
  return condition(p);
}

function expectation(p: Cursor): WhenClause['expect'] {
  const kind = p.at('every', 1) ? 'every' : 'within';
  if (!p.at('expect') || !(p.at('every', 1) || p.at('within', 1))) return null;
  p.take();
  p.take();
  return { kind, interval: p.grammar.expression(p) };
}

interface TriggerTail {
  readonly alias: Identifier | null;
  readonly where: Condition | null;
}
const tail = (p: Cursor): TriggerTail => ({ alias: alias(p), where: where(p) });

function single(p: Cursor): SingleTrigger {
  const start = p.start();
  if (!startsSingle(p)) missingTrigger(p);
  if (p.accept('message')) {
    p.take();
    p.expect('from');
    const source = qualifiedName(p, 'a source');
    return p.node(start, { type: 'SourceTrigger', source, ...tail(p) });
  }
  const word = p.at('occurs') ? null : p.text();
  if (word !== null) p.take();
  p.take();
  p.expect('on');
  if (word === 'event') {
    const path = pathText(p, 'an event path is a String: "/types/Pump/insert"');
    return p.node(start, { type: 'EventTrigger', path, ...tail(p) });
  }
  if (word === 'publish') {
    const topic = pathText(p, 'a topic is a String: "/a/b"');
    return p.node(start, { type: 'TopicTrigger', topic, ...tail(p) });
  }
  if (p.kind() === STRING) p.fail('a type is written as a name', 'for a path write EVENT OCCURS ON "/types/Pump/insert"');
  const target = qualifiedName(p, 'a type');
  return p.node(start, { type: 'TypeTrigger', operation: word as 'insert' | 'update' | 'delete' | 'request' | null, target, ...tail(p) });
}

function missingTrigger(p: Cursor): never {
  if (isOperation(p) && p.isWord(1) && p.at('on', 2)) {
    p.take();
    p.missing("'OCCURS'");
  }
  const isOnWithout = p.isWord() && p.at('on', 1);
  p.missing(
    'an event',
    isOnWithout ? 'OCCURS is missing' : 'for example EVENT OCCURS ON "/topics/a", INSERT OCCURS ON Pump, or MESSAGE ARRIVES FROM mail',
  );
}

function pathText(p: Cursor, hint: string): StringLiteral {
  const start = p.start();
  if (p.kind() !== STRING) p.missing('a String', hint);
  const value = p.text();
  p.take();
  return p.node(start, { type: 'String', value });
}

export function beforeClause(p: Cursor): BeforeClause {
  const start = p.start();
  p.take();
  const operation = (['insert', 'update', 'delete'] as const).find((word) => p.at(word));
  if (!operation) p.missing("'INSERT', 'UPDATE' or 'DELETE'", 'the form is BEFORE INSERT ON Type');
  p.take();
  p.accept('occurs');
  p.expect('on');
  const target = qualifiedName(p, 'a type');
  return p.node(start, { type: 'Before', operation, target, ...tail(p) });
}
