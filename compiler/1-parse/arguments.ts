// The arguments of a call: all positional or all named (language.md 2.3 Args, 2.4 Calls).
import type { Arguments, Expression, NamedArgument, Value } from '../ast.ts';
import { type Cursor, quoted } from './cursor.ts';
import { anyWord } from './names.ts';
import { value } from './values.ts';

/** `callee` is for messages, and for count(*); `start` is where the call begins. */
export function callArguments(p: Cursor, callee: string, start: number): Arguments {
  const open = p.start();
  const positional: Value[] = [];
  const named: NamedArgument[] = [];
  const read = (): void => {
    if (p.at(')')) return;
    do {
      if (p.at(')')) p.fail("an argument is missing after ','");
      if (p.isWord() && (p.at(':', 1) || p.at('=', 1))) named.push(namedArgument(p));
      else positional.push(isStar(p, callee) ? star(p) : value(p));
    } while (p.accept(','));
    if (!p.at(')')) p.missing("',' or ')'");
  };
  p.group('(', read, () => undefined);
  const node = p.node(open, { type: 'Arguments' as const, positional, named });
  if (positional.length > 0 && named.length > 0)
    p.found.report(
      { start, end: node.end },
      'cascade.lang.call.mixed.arguments',
      `the call of ${quoted(callee)} mixes positional and named arguments`,
    );
  return node;
}

function namedArgument(p: Cursor): NamedArgument {
  const start = p.start();
  const name = anyWord(p, 'the name of an argument');
  p.take();
  return p.node(start, { type: 'NamedArgument', name, value: value(p) });
}

/** count(*) in the binding of a SELECT, and nowhere else. */
const isStar = (p: Cursor, callee: string): boolean => p.mode.binding && callee === 'count' && p.at('*') && p.at(')', 1);

function star(p: Cursor): Expression {
  const start = p.start();
  p.take();
  return p.node(start, { type: 'Star' });
}
