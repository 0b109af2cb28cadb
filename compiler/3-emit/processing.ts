// Blocks that run once for each row, result or failure of a statement: SELECT … { }, EXECUTE … AS x { }, UPDATE … ON ERROR (e) { }.
import type * as es from 'estree';
import type { Execute, Select, Statement, Update, Value } from '../ast.ts';
import { resultVariable } from '../2-check/body.ts';
import * as b from './build.ts';
import type { ModuleWriter, Tail } from './context.ts';
import { emitLoop } from './loops.ts';
import { emitOperation } from './operations.ts';
import { emitRows, emitSelect } from './select.ts';

export type Processing = Select | Execute | Update;

export function hasProcessing(node: Statement | Value): node is Processing {
  if ('processedBy' in node && node.processedBy) return false;
  return (
    ((node.type === 'Select' || node.type === 'Execute') && node.processing !== null) || (node.type === 'Update' && node.onError !== null)
  );
}

/** The statement with its block; the value is null, but for UPDATE the number of updated instances. */
export function emitProcessing(node: Processing, tail: Tail, module: ModuleWriter): es.Statement[] {
  if (node.type === 'Update') return emitUpdate(node, tail, module);
  const { processing } = node;
  if (!processing) return [];
  const collection =
    node.type === 'Select' ? selected(node, module) : module.helper('elements', node, emitOperation(node, false, module), b.literal(true));
  return emitLoop(
    {
      at: node,
      collection,
      variable: node.type === 'Select' ? resultVariable(node) : node.alias,
      until: processing.until,
      body: () => module.statements(processing.block.body, 'none'),
    },
    module,
  );
}

/** SELECT ONE with a block: no turn or one (language.md E6). */
function selected(node: Select, module: ModuleWriter): es.Expression {
  const single = node.cardinality === 'one' || node.cardinality === 'exactlyOne';
  return single ? module.helper('elements', node, emitSelect(node, module), b.literal(false)) : emitRows(node, module);
}

function emitUpdate(node: Update, tail: Tail, module: ModuleWriter): es.Statement[] {
  const { onError } = node;
  if (!onError) return [];
  const answer = module.temporary();
  const read = (name: string): es.Expression => module.helper('get', node, answer, b.literal(name), b.literal('the answer'));
  const failures = emitLoop(
    {
      at: onError,
      collection: read('failed'),
      variable: onError.variable,
      until: null,
      body: () => module.statements(onError.block.body, 'none'),
      element: (value) => module.helper('failure', onError, value),
    },
    module,
  );
  const asked = b.statement(b.assign(answer, emitOperation(node, false, module)));
  return tail === 'value' ? [asked, ...failures, b.returns(read('count'))] : [asked, ...failures];
}
