// INSERT, UPSERT, UPDATE, DELETE (language.md 2.3).
import type { Condition, Delete, Insert, Pair, Ref, Update, Upsert, ValueSet } from '../ast.ts';
import { startsWhere, where } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { ref, startsRef } from './names.ts';
import { options } from './options.ts';
import { errorHandler, processedBy, startsProcessedBy } from './processed-by.ts';
import { STRING } from './tokens.ts';
import { value } from './values.ts';

export function insert(p: Cursor): Insert {
  const start = p.start();
  p.take();
  const series = p.at('series') && startsRef(p, 1) && p.kind(1) !== STRING;
  if (series) p.take();
  const target = into(p);
  const values = valueSet(p);
  return p.node(start, { type: 'Insert', series, target, values, options: options(p), processedBy: processedBy(p) });
}

export function upsert(p: Cursor): Upsert {
  const start = p.start();
  p.take();
  const target = into(p);
  const values = valueSet(p);
  return p.node(start, { type: 'Upsert', target, values, options: options(p), processedBy: processedBy(p) });
}

/** `[INTO] Ref`; a type may be called `into`. */
function into(p: Cursor): Ref {
  if (p.at('into') && startsRef(p, 1)) p.take();
  return ref(p, 'a type');
}

export function update(p: Cursor): Update {
  const start = p.start();
  p.take();
  const target = ref(p, 'a type');
  const values = valueSet(p);
  const given = options(p);
  const filter = requiredWhere(p, 'UPDATE', start);
  const onError = errorHandler(p, 'local');
  if (onError && startsProcessedBy(p)) p.fail('ON ERROR of nodes stands behind PROCESSED BY');
  return p.node(start, { type: 'Update', target, values, options: given, where: filter, onError, processedBy: processedBy(p) });
}

export function remove(p: Cursor): Delete {
  const start = p.start();
  p.take();
  if (p.at('from') && startsRef(p, 1) && !startsWhere(p, 1)) p.take();
  const target = ref(p, 'a type');
  const given = options(p);
  return p.node(start, { type: 'Delete', target, options: given, where: requiredWhere(p, 'DELETE', start), processedBy: processedBy(p) });
}

/** W12; without one the tree gets `WHERE {}`, but the text is refused. */
function requiredWhere(p: Cursor, statement: string, start: number): Condition {
  const found = where(p);
  if (found) return found;
  const at = p.node(start, { type: 'Object' as const, members: [] });
  p.found.report(at, 'cascade.lang.where.required', statement);
  return { type: 'QueryObject', expression: at, start: at.start, end: at.end };
}

/** `(pairs)` or `(expression)`. */
function valueSet(p: Cursor): ValueSet {
  if (isValuesForm(p)) return valuesForm(p);
  if (p.at('set') && p.isWord(1)) return setForm(p);
  if (!p.at('(')) p.missing("'('", 'the values stand in parentheses: INSERT Type(a: 1)');
  return p.group(
    '(',
    () => (startsPair(p) ? { pairs: pairs(p) } : { expression: single(p) }),
    () => ({ pairs: [] }),
  );
}

const startsPair = (p: Cursor): boolean => (p.isWord() || p.kind() === STRING) && (p.at(':', 1) || p.at('=', 1));

function single(p: Cursor): ReturnType<Cursor['grammar']['expression']> {
  if (p.at(')')) p.missing('values', 'for no properties write ({})');
  return p.grammar.expression(p);
}

function pairs(p: Cursor): Pair[] {
  const list: Pair[] = [];
  do list.push(pair(p));
  while (p.accept(','));
  if (!p.at(')')) p.missing("',' or ')'");
  return list;
}

function pair(p: Cursor): Pair {
  const start = p.start();
  const keySpan = p.here();
  if (!startsPair(p)) p.missing("'property: value'");
  const key = p.isWord() ? p.written() : p.text();
  p.take();
  p.take();
  return p.node(start, { type: 'Pair', key, keySpan, value: value(p) });
}

/** `(a, b) VALUES (1, 2)`, or only `VALUES (1, 2)`. */
function isValuesForm(p: Cursor): boolean {
  const ahead = p.at('(') ? p.afterPartner() : 0;
  return ahead >= 0 && p.at('values', ahead) && p.at('(', ahead + 1);
}

function valuesForm(p: Cursor): ValueSet {
  skipParentheses(p);
  p.found.report(p.here(), 'cascade.lang.insert.values.form');
  p.take();
  do skipParentheses(p);
  while (p.accept(','));
  return { pairs: [] };
}

function skipParentheses(p: Cursor): void {
  if (!p.at('(')) return;
  if (p.afterPartner() < 0) p.fail("this '(' is never closed");
  for (let rest = p.afterPartner(); rest > 0; rest -= 1) p.take();
}

/** `UPDATE T SET a = 1, b = 2 WHERE …`: told of, and read. */
function setForm(p: Cursor): ValueSet {
  p.soft(p.here(), 'UPDATE has no SET', 'write UPDATE Type(a: 1, b: 2) WHERE …');
  p.take();
  const list: Pair[] = [];
  do list.push(pair(p));
  while (p.accept(','));
  return { pairs: list };
}
