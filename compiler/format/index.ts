// A text in its standard form: one statement a line, indentation by nesting, one spelling of keywords and blanks. Tokens and comments stay
// what they are and in their order, so names, literals and what an author says beside them survive; only blanks, line ends, the case of
// keywords and superfluous `;` change. print/ is the other way to a text: from a tree alone, without comments.
import { lex, parse, type Tokens } from '../1-parse/index.ts';
import type { Definition } from '../ast.ts';
import { Diagnostics } from '../diagnostics.ts';
import { toDiagnostics } from '../lines.ts';
import type { Diagnostic } from '../types.ts';
import { layoutOf } from './layout.ts';
import { sameTree } from './same-tree.ts';
import { write } from './writer.ts';

export type Formatted = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** @returns the text in its standard form, or what is wrong with it: only a text without errors has one */
export function format(source: string): Formatted {
  const found = new Diagnostics();
  const tree = parse(source, found);
  if (!tree || found.hasErrors) return { ok: false, diagnostics: toDiagnostics(source, found) };
  const tokens = lex(source, new Diagnostics());
  const layout = layoutOf(tree, tokens);
  // A `;` parts statements where a line end would not do (as behind a bare RETURN): then all of them stay.
  for (const semicolons of ['dropped', 'kept'] as const) {
    const text = write(tokens, layout, semicolons);
    if (means(text, tree)) return { ok: true, text };
  }
  throw new Error('the standard form of a text has another meaning');
}

function means(text: string, tree: Definition): boolean {
  const found = new Diagnostics();
  const again = parse(text, found);
  return again !== null && !found.hasErrors && sameTree(again, tree);
}

export type { Tokens };
