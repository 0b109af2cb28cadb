// SELECT (language.md 2.3).
import type { Binding, Expression, Identifier, OrderKey, Path, Ref, Select } from '../ast.ts';
import { startsWhere, where } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { FOREIGN_CLAUSES } from './foreign.ts';
import { AGGREGATES } from './keywords.ts';
import { alias, path, ref, startsAlias, startsRef } from './names.ts';
import { options, startsOptions } from './options.ts';
import { processedBy, processingBlock, startsProcessedBy } from './processed-by.ts';
import { INTEGER, STRING } from './tokens.ts';

export function select(p: Cursor): Select {
  const start = p.start();
  p.take();
  const cardinality = resultKind(p);
  const { bindings, fromSource, from } = target(p);
  const name = alias(p);
  const before = options(p);
  const filter = where(p);
  const groupBy = p.at('group') && p.at('by', 1) ? keys(p, path) : [];
  const orderBy = p.at('order') && p.at('by', 1) ? keys(p, orderKey) : [];
  const after = options(p);
  foreignClause(p);
  bareAlias(p);
  const nodes = processedBy(p);
  return p.node(start, {
    type: 'Select',
    cardinality,
    bindings,
    fromSource,
    from,
    alias: name,
    options: [...before, ...after],
    where: filter,
    groupBy,
    orderBy,
    processing: nodes ? null : processingBlock(p),
    processedBy: nodes,
  });
}

/** Does a clause of the SELECT begin here, so that the word before it was a name? */
const startsClause = (p: Cursor, ahead: number): boolean =>
  startsAlias(p, ahead) ||
  startsOptions(p, ahead) ||
  (startsWhere(p, ahead) && p.startsOperand(ahead + 1)) ||
  ((p.at('group', ahead) || p.at('order', ahead)) && p.at('by', ahead + 1)) ||
  startsProcessedBy(p, ahead) ||
  p.clause('until', ahead);

/** `SELECT one, two` and `SELECT one = …` bind properties of these names. */
function resultKind(p: Cursor): Select['cardinality'] {
  const isBodyNext = (ahead: number): boolean => (startsRef(p, ahead) || p.at('*', ahead)) && !startsClause(p, ahead);
  if (p.at('exactly') && p.at('one', 1)) return (p.take(), p.take(), 'exactlyOne');
  for (const word of ['sequence', 'array', 'one'] as const) {
    if (!p.at(word) || !isBodyNext(1)) continue;
    p.take();
    return word;
  }
  return null;
}

function target(p: Cursor): { bindings: Binding[] | null; fromSource: boolean; from: Ref } {
  if ((p.at('@') && !isBoundReference(p)) || p.kind() === STRING) return { bindings: null, fromSource: false, from: ref(p, 'a type') };
  let bindings: Binding[] | null = null;
  const isDistinct = p.at('distinct') && !p.isFresh(1) && (p.at('*', 1) || (p.isWord(1) && !p.at('from', 1) && !startsClause(p, 1)));
  if (isDistinct) p.fail('a SELECT has no DISTINCT', 'write SELECT a, b FROM Type GROUP BY a, b');
  if (p.at('*')) p.take();
  else if (!startsFrom(p)) bindings = bindingList(p);
  if (startsFrom(p)) return { bindings, ...source(p) };
  const only = bindings?.[0];
  if (!only || bindings?.length !== 1 || only.value) p.missing("'FROM'", 'several properties, or *, need FROM Type');
  return { bindings: null, fromSource: false, from: only.path };
}

/** `SELECT @v FROM T`: `@v` where a property should stand. */
const isBoundReference = (p: Cursor): boolean => (p.at('from', 2) && startsRef(p, 3)) || (p.at(',', 2) && !p.mode.brackets);

/** FROM, unless it is the name of a property: `SELECT from FROM Trip`. */
function startsFrom(p: Cursor): boolean {
  if (!p.at('from') || !startsRef(p, 1)) return false;
  return !(p.at('from', 1) && startsRef(p, 2) && !startsClause(p, 2) && !p.isFresh(2));
}

function source(p: Cursor): { fromSource: boolean; from: Ref } {
  p.take();
  const fromSource = p.at('source') && startsRef(p, 1) && !startsClause(p, 1);
  if (fromSource) p.take();
  return { fromSource, from: ref(p, fromSource ? 'a source' : 'a type', fromSource ? 'strings' : 'names') };
}

function bindingList(p: Cursor): Binding[] {
  const list: Binding[] = [];
  do list.push(binding(p));
  while (p.accept(','));
  return list;
}

function binding(p: Cursor): Binding {
  const start = p.start();
  if (p.at('(', 1) && p.isWord() && AGGREGATES.has(p.written())) return unnamedAggregate(p, start);
  const name = path(p);
  const function_ = name.text.toLowerCase();
  if (p.at('(')) p.fail('a computed property needs a name', `write x = ${AGGREGATES.has(function_) ? function_ : name.text}(…)`);
  if (startsAlias(p) && (p.at(',', 2) || p.at('from', 2))) p.fail('a property is renamed by =', 'write newName = property');
  const value: Expression | null = p.accept('=') ? p.within({ binding: true, collection: false }, () => p.grammar.expression(p)) : null;
  return p.node(start, { type: 'Binding', path: name, value });
}

/** `count(*)` alone comes under the name of the function (builtins.md 16). */
function unnamedAggregate(p: Cursor, start: number): Binding {
  const name = p.written();
  const value = p.within({ binding: true, collection: false }, () => p.grammar.expression(p));
  if (value.type !== 'Call') p.fail('a computed property needs a name', `write x = ${name}(…) …`);
  if (startsAlias(p)) p.fail('a computed property is named by =', `write ${p.written(1)} = ${name}(…)`);
  const at = { start: value.start, end: value.start + name.length };
  const part: Identifier = { type: 'Identifier', name, ...at };
  return p.node(start, { type: 'Binding', path: { type: 'QualifiedName', parts: [part], text: name, ...at }, value });
}

/** After GROUP BY or ORDER BY; `, name:` and `, name =` belong to the list around the SELECT. */
function keys<T extends Path | OrderKey>(p: Cursor, key: (p: Cursor) => T): T[] {
  p.take();
  p.take();
  const list = [key(p)];
  while (p.at(',') && (p.isWord(1) || p.at('@', 1)) && !p.at(':', 2) && !p.at('=', 2)) {
    p.take();
    list.push(key(p));
  }
  return list;
}

function orderKey(p: Cursor): OrderKey {
  const start = p.start();
  const name = path(p);
  const descending = p.at('desc') && !p.isPlainName();
  if (descending || (p.at('asc') && !p.isPlainName())) p.take();
  return p.node(start, { type: 'OrderKey', path: name, descending });
}

/** `LIMIT 5`, `JOIN x`, `HAVING …` on the line: SQL's, not ours. */
function foreignClause(p: Cursor): void {
  const hint = p.isWord() && !p.isFresh() && !p.isPlainName() ? FOREIGN_CLAUSES.get(p.text()) : undefined;
  if (hint === undefined || p.isFresh(1) || !(p.isWord(1) || p.kind(1) === INTEGER)) return;
  p.fail(`a SELECT has no ${p.text().toUpperCase()}`, hint);
}

/** `FROM Pump p WHERE …`: SQL names a row without AS. No statement begins with a clause, so the word before it is none either. */
function bareAlias(p: Cursor): void {
  if (!p.isWord() || p.isFresh() || p.at('do') || startsClause(p, 0) || !startsClause(p, 1)) return;
  p.fail('the result is named by AS', `write AS ${p.written()}`);
}
