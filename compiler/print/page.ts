// What every printer shares: the indentation, spelling of names, keys and Strings, and the lists that break over lines when they are long.
import type { Block, Expression, Option, QualifiedName, Ref, ResourceStatement, Span, Value } from '../ast.ts';

/** Where the text goes to. The two printers are handed in, so that files do not import each other in a circle. */
export interface Page {
  readonly indent: string;
  readonly expression: (page: Page, node: Expression) => string;
  readonly block: (page: Page, node: Block) => string;
  readonly resource: (page: Page, node: ResourceStatement) => string;
}
export const deeper = (page: Page): Page => ({ ...page, indent: `${page.indent}  ` });

/** One printer a node type: a type without one does not compile. */
export type Printers<N extends Span & { readonly type: string }> = {
  [T in N['type']]: (page: Page, node: Extract<N, { type: T }>) => string;
};
export const printBy =
  <N extends Span & { readonly type: string }>(printers: Printers<N>) =>
  (page: Page, node: N): string =>
    (printers[node.type as N['type']] as (page: Page, node: N) => string)(page, node);

const WIDEST = 100;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};
/** What would not survive a text file, or cannot be seen in it: control characters, line separators, lone surrogates. */
const UNSAFE = /[\\"\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export const string = (text: string): string =>
  `"${text.replace(UNSAFE, (character) => ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
export const key = (text: string): string => (NAME.test(text) ? text : string(text));

/** `[a, b]`, or one to a line when that is too long. Brackets make line ends harmless. */
export function list(page: Page, open: string, close: string, items: readonly string[]): string {
  const line = `${open}${items.join(', ')}${close}`;
  if (items.length === 0 || (line.length + page.indent.length <= WIDEST && !line.includes('\n'))) return line;
  const { indent } = deeper(page);
  return `${open}\n${items.map((item) => indent + item).join(',\n')}\n${page.indent}${close}`;
}

export const name = (node: QualifiedName): string => node.text;
export function ref(node: Ref): string {
  if (node.type === 'VariableRef') return `@${node.variable.name}`;
  return node.type === 'String' ? string(node.value) : node.text;
}

export function options(page: Page, given: readonly Option[]): string {
  if (given.length === 0) return '';
  return ` WITH ${given.map((option) => `${key(option.key)} = ${page.expression(page, option.value)}`).join(', ')}`;
}

const RESOURCE_TYPES: ReadonlySet<string> = new Set(['Select', 'Insert', 'Upsert', 'Update', 'Delete', 'Execute', 'Filter', 'Map']);
const isResource = (node: Value): node is ResourceStatement => RESOURCE_TYPES.has(node.type);
export const value = (page: Page, node: Value): string => (isResource(node) ? page.resource(page, node) : page.expression(page, node));
