// PROCESSED BY (language.md 7): the statement runs on the nodes that the host finds. There is no federation in this version, so the host
// finds none, or refuses the statement; what is left to do here is what a statement gives that has no node to run on (D10, D12).
import type * as es from 'estree';
import type { ProcessedBy, Select, Statement, Value } from '../ast.ts';
import * as b from './build.ts';
import { type ModuleWriter, variable } from './context.ts';
import { emitReferenceText } from './references.ts';
import { emitWhere } from './where.ts';

export type Federated = (Statement | Value) & { readonly processedBy: ProcessedBy };

export function isFederated(node: Statement | Value): node is Federated {
  return 'processedBy' in node && node.processedBy !== null;
}

/** Asks for the nodes, with the constraint's operands evaluated here (D1, D2); then the value that no node gives. */
export function emitFederated(node: Federated, module: ModuleWriter): es.Expression {
  const { processedBy } = node;
  const asked = module.operation(
    'nodes',
    processedBy,
    b.object([
      ['where', constraint(processedBy, module)],
      ['cardinality', b.literal(processedBy.cardinality)],
    ]),
  );
  const { status, block } = processedBy;
  const told = status && !block ? [b.assign(variable(status.name), b.array([]))] : [];
  return b.sequence([asked, ...told, withoutNodes(node, module)]);
}

/** `ALL` is every node but the own one, as is the empty condition; `@v` is a node's name. */
function constraint({ nodes }: ProcessedBy, module: ModuleWriter): es.Expression {
  if (nodes === 'all') return b.object([]);
  if (nodes.type === 'VariableRef') return b.object([['name', b.object([['$eq', emitReferenceText(nodes, module)]])]]);
  return emitWhere(nodes, (steps) => steps.join('.'), module);
}

function withoutNodes(node: Federated, module: ModuleWriter): es.Expression {
  const { block, cardinality } = node.processedBy;
  if (block) return b.literal(null);
  const single = cardinality === 'one' || cardinality === 'exactlyOne';
  if (single && !(node.type === 'Select' && isList(node))) return b.literal(null);
  return module.helper('made', node, b.id('$'), b.literal(0), b.array([]));
}

const isList = ({ cardinality }: Select): boolean => cardinality !== 'one' && cardinality !== 'exactlyOne';
