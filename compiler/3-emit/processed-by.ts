// PROCESSED BY (language.md 7): the host carries the statement out on the nodes and gives its results one by one; the blocks run here. Without a
// block the value is that of one node, or the deprecated array (D9, D10).
import type * as es from 'estree';
import type { Execute, ProcessedBy, Select, Statement, Value } from '../ast.ts';
import { resultVariable } from '../2-check/body.ts';
import * as b from './build.ts';
import { type ModuleWriter, variable } from './context.ts';
import { fuel } from './loops.ts';
import { emitReferenceText } from './references.ts';
import { argumentsOf, executeAllOf, isRequesting, requestOf } from './requests.ts';
import { nodeSelect } from './select.ts';
import { emitWhere } from './where.ts';

export type Federated = (Statement | Value) & { readonly processedBy: ProcessedBy };

export function isFederated(node: Statement | Value): node is Federated {
  return 'processedBy' in node && node.processedBy !== null;
}

/** Whether results are taken one by one. */
export const hasNodeBlocks = (node: Statement | Value): node is Federated =>
  isFederated(node) && (node.processedBy.block !== null || node.processedBy.onError !== null);

/** Without a block: the value of one node, or the results of all by name, with their states in STATUS TO. */
export function emitFederated(node: Federated, module: ModuleWriter): es.Expression {
  const { cardinality, status } = node.processedBy;
  if (cardinality === 'one' || cardinality === 'exactlyOne') {
    const isList = node.type === 'Select' && !node.fromSource && isArray(node);
    return b.delegate(module.helper('nodeValue', node, ...asked(node, module), b.literal(isList)));
  }
  const results = module.temporary();
  const read = (name: string): es.Expression => module.helper('get', node, results, b.literal(name), b.literal('the answer'));
  const traceOf = status ? [b.assign(variable(status.name), read('status'))] : [];
  const isFlat = node.type === 'Select' && !node.fromSource;
  const made = b.assign(results, b.delegate(module.helper('nodeResults', node, ...asked(node, module), b.literal(isFlat))));
  return b.sequence([made, ...traceOf, read('results')]);
}

/** With blocks: one turn an item, then UNTIL (D3 to D7). */
export function emitNodeBlocks(node: Federated, module: ModuleWriter): es.Statement[] {
  return module.again(() => {
    const { block, onError, until } = node.processedBy;
    const iterator = module.name('i');
    const item = module.name('n');
    const cursor = b.id(iterator);
    const read = (name: string): es.Expression => module.helper('get', node, b.id(item), b.literal(name), b.literal('the item'));
    const taken = block ? module.statements(block.body, 'none') : [];
    const failed = onError
      ? [
          b.declare('let', [variable(onError.variable.name).name, read('context')]),
          ...module.traceOf(onError.variable),
          ...module.statements(onError.block.body, 'none'),
        ]
      : [];
    const turn: es.Statement[] = [fuel(node, module), b.declare('let', [item, module.helper('value', node, cursor)])];
    turn.push(...itemVariables(node).flatMap(([name, member]) => [b.declare('let', [variable(name).name, read(member)])]));
    turn.push(b.when(module.helper('truth', node, read('ok')), b.block(taken), b.block(failed)));
    if (until) {
      const close = b.statement(b.delegate(module.helper('close', until, b.id('$'), cursor)));
      turn.push(b.when(module.truth(until), b.block([close, b.leave])));
    }
    const collection = module.helper('iterate', node, b.id('$'), module.helper('nodeItems', node, ...asked(node, module)));
    const step = module.helper('step', node, cursor);
    const pull = b.delegate(module.helper('pull', node, b.id('$'), cursor));
    return [b.declare('const', [iterator, collection]), b.loop(b.logical('||', step, pull), turn)];
  });
}

/** Variables of a block, and which member of an item each holds; of one name the first. */
function itemVariables(node: Federated): [name: string, member: string][] {
  const { alias, context } = node.processedBy;
  const own = node.type === 'Select' ? resultVariable(node) : node.type === 'Execute' ? node.alias : null;
  const found = new Map<string, string>();
  for (const name of [alias, own]) if (name) found.set(name.name, 'value');
  if (context && !found.has(context.name)) found.set(context.name, 'context');
  return [...found];
}

/** The arguments of all three helpers: the run, the place, what the host is asked for, how rows are gathered and built anew. */
function asked(node: Federated, module: ModuleWriter): es.Expression[] {
  const { processedBy } = node;
  const { kind, payload, gathering, projection } = statement(node, module);
  const request = b.object([
    ['where', constraint(processedBy, module)],
    ['cardinality', b.literal(processedBy.cardinality)],
    ['within', processedBy.within ? module.value(processedBy.within) : b.literal(null)],
    ['limited', b.literal(processedBy.within !== null)],
    ['gathers', b.literal(gathering !== null)],
    ['streams', b.literal(processedBy.block !== null)],
    ['handled', b.literal(processedBy.onError !== null)],
    ['kind', b.literal(kind)],
    ['statement', payload],
  ]);
  return [b.id('$'), module.site(), request, gathering ? b.array(gathering) : b.literal(null), projection ?? b.literal(null)];
}

interface Asked {
  readonly kind: string;
  readonly payload: es.Expression;
  readonly gathering: es.Expression[] | null;
  readonly projection: es.Expression | null;
}

function statement(node: Federated, module: ModuleWriter): Asked {
  const whole = { gathering: null, projection: null };
  if (node.type === 'Select') {
    const select = nodeSelect(node, module);
    return 'kind' in select && 'payload' in select ? select : { kind: 'select', payload: select, ...whole };
  }
  if (isRequesting(node)) return { ...requestOf(node, module), ...whole };
  if (node.type !== 'Execute') throw new Error(`${node.type} is not carried out on nodes`);
  if (!node.procedure) return { ...executeAllOf(node, module), ...whole };
  return {
    kind: 'execute',
    payload: b.object([['name', procedureName(node, node.procedure.text, module)], ...argumentsOf(node, module)]),
    ...whole,
  };
}

/** What the name may mean in this text (language.md N7): one name, or several of which a node carries out the first that it has. */
function procedureName(node: Execute, text: string, module: ModuleWriter): es.Expression {
  const target = module.model.calls.get(node);
  const names = target?.kind === 'user' ? target.names : [text];
  return b.data(names.length === 1 ? names[0] : names);
}

/** `ALL` is every node but the own one, as is the empty condition; `@v` is a node's name. */
function constraint({ nodes }: ProcessedBy, module: ModuleWriter): es.Expression {
  if (nodes === 'all') return b.object([]);
  if (nodes.type === 'VariableRef') return b.object([['name', b.object([['$eq', emitReferenceText(nodes, module)]])]]);
  return emitWhere(nodes, (steps) => steps.join('.'), module);
}

const isArray = ({ cardinality }: Select): boolean => cardinality !== 'one' && cardinality !== 'exactlyOne';
