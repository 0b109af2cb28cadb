// Names, qualified names, paths and references: what all statements have in common (language.md L6 to L11, S9).
import type { Identifier, Path, QualifiedName, Ref } from '../ast.ts';
import { type Cursor, quoted } from './cursor.ts';
import { LITERAL_WORDS } from './keywords.ts';
import { STRING } from './tokens.ts';

/** The name of a variable, parameter, alias or resource. */
export function identifier(p: Cursor, what: string): Identifier {
  if (p.at('@')) reference(p);
  else if (!p.isWord() || (p.isReserved() && p.breaksLine())) p.missing(what);
  else if (p.isReserved()) p.found.report(p.here(), 'cascade.lang.name.reserved', p.written());
  else if (LITERAL_WORDS.has(p.text())) p.soft(p.here(), `${quoted(p.written())} is a literal and cannot be used as a name`);
  p.declared.add(p.written());
  return anyWord(p, what);
}

/** L11: after '.' and as a key every word is a plain name. */
export function anyWord(p: Cursor, what: string): Identifier {
  if (!p.isWord()) p.missing(what);
  const start = p.start();
  const name = p.written();
  p.take();
  return p.node(start, { type: 'Identifier', name });
}

/** `@v` where no Ref is allowed (S9): told of, then read as `v`. */
export function reference(p: Cursor): void {
  const at = p.here();
  p.take();
  if (!p.isWord()) p.missing('a variable after @');
  p.found.report({ start: at.start, end: p.here().end }, 'cascade.lang.reference.position', p.written());
}

/** `a.b.c`; `system` may begin it when more follows. */
export function qualifiedName(p: Cursor, what: string): QualifiedName {
  const start = p.start();
  const parts = [p.at('system') && p.at('.', 1) ? anyWord(p, what) : identifier(p, what)];
  while (p.accept('.')) parts.push(anyWord(p, `a name after '.'`));
  return p.node(start, { type: 'QualifiedName', parts, text: textOf(parts) });
}
export const textOf = (parts: readonly Identifier[]): string => parts.map((part) => part.name).join('.');

export function path(p: Cursor): Path {
  const start = p.start();
  const parts = [identifier(p, 'a property')];
  while (p.accept('.')) parts.push(anyWord(p, `a name after '.'`));
  return p.node(start, { type: 'QualifiedName', parts, text: textOf(parts) });
}

/** Ref: a Name, `@v`, or where `strings` allows it a String. */
export function ref(p: Cursor, what: string, strings: 'strings' | 'names' = 'names'): Ref {
  const start = p.start();
  if (p.accept('@')) {
    const variable = identifier(p, 'a variable after @');
    return p.node(start, { type: 'VariableRef', variable });
  }
  if (p.kind() !== STRING) return qualifiedName(p, what);
  if (strings === 'names') p.soft(p.here(), `${what} is written as a name, not as a String`, 'for a name that is computed write @variable');
  const value = p.text();
  p.take();
  return p.node(start, { type: 'String', value });
}
export const startsRef = (p: Cursor, ahead = 0): boolean => p.isWord(ahead) || p.at('@', ahead) || p.kind(ahead) === STRING;

/** `AS Name`, if it stands here. */
export function alias(p: Cursor): Identifier | null {
  if (!startsAlias(p)) return null;
  p.take();
  return identifier(p, 'a name after AS');
}
export const startsAlias = (p: Cursor, ahead = 0): boolean => p.at('as', ahead) && (p.isWord(ahead + 1) || p.at('@', ahead + 1));
