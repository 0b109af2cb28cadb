// SELECT, INSERT, UPSERT, UPDATE, DELETE, EXECUTE, FILTER, MAP to text, with their processing blocks (language.md 2.3).
import type {
  Binding,
  ErrorHandler,
  Execute,
  Expression,
  Identifier,
  OrderKey,
  ProcessedBy,
  ProcessingBlock,
  ResourceStatement,
  Select,
  Value,
  ValueSet,
} from '../ast.ts';
import { condition, where } from './conditions.ts';
import { callArguments, expression } from './expressions.ts';
import { deeper, key, list, name, options, type Page, type Printers, printBy, ref, value } from './page.ts';

const printers: Printers<ResourceStatement> = {
  Select: select,
  Insert: (page, node) =>
    `INSERT ${node.series ? 'SERIES ' : ''}${ref(node.target)}${valueSet(page, node.values)}${options(page, node.options)}${processedBy(page, node.processedBy)}`,
  Upsert: (page, node) =>
    `UPSERT ${ref(node.target)}${valueSet(page, node.values)}${options(page, node.options)}${processedBy(page, node.processedBy)}`,
  Update: (page, node) =>
    `UPDATE ${ref(node.target)}${valueSet(page, node.values)}${options(page, node.options)}${where(page, node.where)}` +
    errorHandler(page, node.onError) +
    processedBy(page, node.processedBy),
  Delete: (page, node) =>
    `DELETE ${ref(node.target)}${options(page, node.options)}${where(page, node.where)}${processedBy(page, node.processedBy)}`,
  Execute: execute,
  Filter: (page, node) => `FILTER (${loopHead(page, node)}) ${page.block(page, node.body)}`,
  Map: (page, node) => `MAP (${loopHead(page, node)}) ${page.block(page, node.body)}`,
};
export const resource = printBy<ResourceStatement>(printers);

const KINDS = { sequence: 'SEQUENCE ', array: 'ARRAY ', one: 'ONE ', exactlyOne: 'EXACTLY ONE ' };

/** After ORDER BY the options stand last: there they also end the list of keys. */
function select(page: Page, node: Select): string {
  const kind = node.cardinality ? KINDS[node.cardinality] : '';
  const bindings = node.bindings ? `${node.bindings.map((one) => binding(page, one)).join(', ')} ` : '';
  const hasKeys = node.groupBy.length > 0 || node.orderBy.length > 0;
  const given = options(page, node.options);
  return (
    `SELECT ${kind}${bindings}FROM ${node.fromSource ? 'SOURCE ' : ''}${ref(node.from)}${alias(node.alias)}` +
    `${hasKeys ? '' : given}${where(page, node.where)}` +
    (node.groupBy.length > 0 ? ` GROUP BY ${node.groupBy.map(name).join(', ')}` : '') +
    (node.orderBy.length > 0 ? ` ORDER BY ${node.orderBy.map(orderKey).join(', ')}` : '') +
    `${hasKeys ? given : ''}${processingBlock(page, node.processing)}${processedBy(page, node.processedBy)}`
  );
}
const binding = (page: Page, node: Binding): string => node.path.text + (node.value ? ` = ${expression(page, node.value)}` : '');
const orderKey = (node: OrderKey): string => node.path.text + (node.descending ? ' DESC' : '');
const alias = (node: Identifier | null): string => (node ? ` AS ${node.name}` : '');

export function valueSet(page: Page, values: ValueSet): string {
  if ('expression' in values) return `(${value(page, values.expression)})`;
  return list(
    page,
    '(',
    ')',
    values.pairs.map((pair) => `${key(pair.key)}: ${value(deeper(page), pair.value)}`),
  );
}

function execute(page: Page, node: Execute): string {
  return (
    `EXECUTE ${node.async ? 'ASYNC ' : ''}${node.procedure?.text ?? '* '}${callArguments(page, node.arguments)}` +
    `${where(page, node.where)}${options(page, node.options)}${alias(node.alias)}` +
    processingBlock(page, node.processing) +
    processedBy(page, node.processedBy)
  );
}

export interface LoopHead {
  readonly variable: Identifier;
  readonly collection: Value;
  readonly until?: Expression | null;
}
/** @param word IN, written as small as the `for` before it */
export const loopHead = (page: Page, node: LoopHead, word: 'IN' | 'in' = 'IN'): string =>
  `${node.variable.name} ${word} ${value(page, node.collection)}${until(page, node.until ?? null)}`;

export const until = (page: Page, node: Expression | null): string => (node ? ` UNTIL ${expression(page, node)}` : '');

function processingBlock(page: Page, node: ProcessingBlock | null): string {
  return node ? `${until(page, node.until)} ${page.block(page, node.block)}` : '';
}

function errorHandler(page: Page, node: ErrorHandler | null): string {
  return node ? ` ON ERROR (${node.variable.name}) ${page.block(page, node.block)}` : '';
}

const CARDINALITIES = { one: 'ONE ', atLeastOne: 'AT LEAST ONE ', exactlyOne: 'EXACTLY ONE ' };

export function processedBy(page: Page, node: ProcessedBy | null): string {
  if (!node) return '';
  const nodes = node.nodes === 'all' ? 'ALL' : node.nodes.type === 'VariableRef' ? ref(node.nodes) : condition(page, node.nodes);
  return (
    `${alias(node.alias)} PROCESSED BY ${node.cardinality ? CARDINALITIES[node.cardinality] : ''}${nodes}` +
    (node.status ? ` STATUS TO ${node.status.name}` : '') +
    (node.context ? ` CONTEXT TO ${node.context.name}` : '') +
    (node.within ? ` WITHIN ${expression(page, node.within)}` : '') +
    until(page, node.until) +
    (node.block ? ` ${page.block(page, node.block)}` : '') +
    errorHandler(page, node.onError)
  );
}
