// Parameters and return type of a procedure (language.md 2.1, 3.4).
import type { Expression, Parameter, ReturnType, StringLiteral, TypeRef } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { integerValue } from './literals.ts';
import { identifier, qualifiedName } from './names.ts';
import { INTEGER, STRING } from './tokens.ts';

const MODIFIERS = ['array', 'multi', 'required', 'default', 'description'];

export function parameters(p: Cursor): Parameter[] {
  const list: Parameter[] = [];
  const read = (): void => {
    if (p.at(')')) return;
    do list.push(parameter(p));
    while (p.accept(','));
    if (!p.at(')')) p.missing("',' or ')'", p.at('=') ? 'a default value is written DEFAULT value' : undefined);
  };
  p.group('(', read, () => undefined);
  return list;
}

const isModifier = (p: Cursor): boolean => p.isWord() && MODIFIERS.includes(p.text());

function parameter(p: Cursor): Parameter {
  const start = p.start();
  const name = identifier(p, 'a parameter');
  if (p.at(':')) {
    p.soft(p.here(), "the type of a parameter follows its name without ':'", `write ${name.name} String`);
    p.take();
  }
  const type = p.isWord() && !isModifier(p) ? typeRef(p) : null;
  let array = false;
  let required = false;
  let fallback: Expression | null = null;
  let text: StringLiteral | null = null;
  while (isModifier(p)) {
    const word = p.text();
    const at = p.here();
    p.take();
    if ((word === 'default' && fallback) || (word === 'description' && text)) p.soft(at, `${word.toUpperCase()} is given twice`);
    if (word === 'required') required = true;
    else if (word === 'default') fallback = p.grammar.expression(p);
    else if (word === 'description') text = string(p);
    else array = true;
  }
  return p.node(start, { type: 'Parameter', name, typeRef: type, array, required, default: fallback, description: text });
}

function string(p: Cursor): StringLiteral {
  const start = p.start();
  if (p.kind() !== STRING) p.missing('a String');
  const value = p.text();
  p.take();
  return p.node(start, { type: 'String', value });
}

function typeRef(p: Cursor): TypeRef {
  const start = p.start();
  const name = qualifiedName(p, 'a type');
  const hasArgument = p.at('(') && !p.breaksLine();
  const argument = hasArgument
    ? p.group(
        '(',
        () => size(p),
        () => null,
      )
    : null;
  return p.node(start, { type: 'TypeRef', name, argument });
}

function size(p: Cursor): TypeRef['argument'] {
  const start = p.start();
  if (p.kind() !== INTEGER) p.missing('an Integer', 'for example Decimal(2) or String(40)');
  const value = integerValue(p, p.text());
  p.take();
  return p.node(start, { type: 'Integer', value });
}

export function returnType(p: Cursor): ReturnType {
  const start = p.start();
  const type = typeRef(p);
  const cardinality = p.isPlainName() ? undefined : (['array', 'sequence'] as const).find((word) => p.at(word));
  if (cardinality) p.take();
  return p.node(start, { type: 'ReturnType', typeRef: type, cardinality: cardinality ?? null });
}
