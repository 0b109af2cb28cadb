// EXECUTE (language.md 2.3).
import type { Execute } from '../ast.ts';
import { callArguments } from './arguments.ts';
import { where } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { alias, qualifiedName, startsAlias } from './names.ts';
import { options } from './options.ts';
import { processedBy, processingBlock, startsProcessedBy } from './processed-by.ts';

export function execute(p: Cursor): Execute {
  const start = p.start();
  p.take();
  const async = p.at('async') && (p.isWord(1) || p.at('*', 1) || p.at('@', 1));
  if (async) p.take();
  p.accept('procedure');
  const procedure = p.accept('*') ? null : qualifiedName(p, 'a procedure');
  if (!p.at('(')) p.missing("'('", 'the arguments stand in parentheses');
  const given = callArguments(p, procedure?.text ?? '*', start);
  const filter = procedure ? null : where(p);
  if (!procedure && !filter) p.missing("'WHERE'", 'EXECUTE * chooses procedures by WHERE');
  const chosen = options(p);
  const isResultNamed = startsAlias(p) && !startsProcessedBy(p) && !p.mode.collection && (p.at('{', 2) || p.clause('until', 2));
  const name = isResultNamed ? alias(p) : null;
  const processing = isResultNamed ? processingBlock(p) : null;
  return p.node(start, {
    type: 'Execute',
    async,
    procedure,
    arguments: given,
    where: filter,
    options: chosen,
    alias: name,
    processing,
    processedBy: processing ? null : processedBy(p),
  });
}
