// `WITH a = x, b = y` (language.md L20).
import type { Option } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { STRING } from './tokens.ts';

const isKey = (p: Cursor, ahead: number): boolean => p.isWord(ahead) || p.kind(ahead) === STRING;
export const startsOptions = (p: Cursor, ahead = 0): boolean =>
  p.at('with', ahead) && isKey(p, ahead + 1) && (p.at('=', ahead + 2) || !p.isFresh(ahead + 1)) && !p.at('.', ahead + 2);

/** `WITH a = x, b = y`, if it stands here; a comma goes on with it only before another `key =` (L20). */
export function options(p: Cursor): Option[] {
  if (!startsOptions(p)) return [];
  p.take();
  const list = [option(p)];
  while (p.at(',') && isKey(p, 1) && p.at('=', 2)) {
    p.take();
    list.push(option(p));
  }
  return list;
}

function option(p: Cursor): Option {
  const start = p.start();
  if (!isKey(p, 0)) p.missing('an option');
  const keySpan = p.here();
  const key = p.isWord() ? p.written() : p.text();
  p.take();
  if (p.at(':')) p.fail("an option is written name = value, not with ':'");
  p.expect('=', 'an option is written name = value');
  const value = p.grammar.expression(p);
  return p.node(start, { type: 'Option', key, keySpan, value });
}
