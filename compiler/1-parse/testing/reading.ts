// For tests: a text to what it was read as, in a form that a line can show.
import type { Condition, Definition, Expression, Statement } from '../../ast.ts';
import { Diagnostics } from '../../diagnostics.ts';
import { toDiagnostics } from '../../lines.ts';
import { parse } from '../index.ts';

export function read(text: string): { tree: Definition | null; found: string[] } {
  const diagnostics = new Diagnostics();
  const tree = parse(text, diagnostics);
  const found = toDiagnostics(text, diagnostics).map((one) => `${one.code.replace('cascade.', '')} ${one.line}:${one.column}`);
  return { tree, found };
}

/** The codes without `cascade.`, each with its line and column. */
export const mistakes = (text: string): string[] => read(text).found;
export const mistakesInBody = (body: string): string[] => mistakes(`PROCEDURE p()\n${body}`);
export const messages = (text: string): string[] => {
  const diagnostics = new Diagnostics();
  parse(text, diagnostics);
  return diagnostics.list.map((one) => (one.hint === undefined ? one.message : `${one.message} (${one.hint})`));
};

/** The tree of a text without mistakes. */
export function accepted(text: string): Definition {
  const { tree, found } = read(text);
  if (!tree || found.length > 0) throw new Error(`not accepted: ${found.join(', ')}\n${text}`);
  return tree;
}
export const statements = (body: string): readonly Statement[] => accepted(`PROCEDURE p()\n${body}`).body;

/** The only statement of a body. */
export function only<T extends Statement['type']>(type: T, body: string): Extract<Statement, { type: T }> {
  const [first, ...rest] = statements(body);
  if (first?.type !== type || rest.length > 0) throw new Error(`${first?.type} and ${rest.length} more in ${body}`);
  return first as Extract<Statement, { type: T }>;
}

/** What each statement of a body is: `x = 1 [2]` gives `Assign ExpressionStatement`. */
export const outline = (body: string): string =>
  statements(body)
    .map((one) => one.type)
    .join(' ');

/** An expression with every operator in parentheses. */
export function shape(text: string): string {
  const found = only('Var', `var result = ${text}`);
  return found.value ? shaped(found.value as Expression) : '';
}

export function shaped(node: Expression): string {
  switch (node.type) {
    case 'Binary':
    case 'Logical':
      return `(${shaped(node.left)} ${node.operator} ${shaped(node.right)})`;
    case 'Unary':
      return `(${node.operator}${shaped(node.operand)})`;
    case 'Postfix':
      return `(${shaped(node.target)}${node.operator})`;
    case 'Ternary':
      return `(${shaped(node.condition)} ? ${shaped(node.then)} : ${shaped(node.otherwise)})`;
    case 'Lambda': {
      const body = node.body.type === 'Block' ? `{${node.body.body.map((one) => one.type).join(' ')}}` : shaped(node.body);
      return `(${node.parameters.map((one) => one.name).join(', ')} => ${body})`;
    }
    case 'Member':
      return `${shaped(node.object)}.${node.property}`;
    case 'Subscript':
      return `${shaped(node.object)}[${shaped(node.index)}]`;
    case 'Call':
      return `call ${node.callee.text}(${given(node.arguments)})`;
    case 'MethodCall':
      return `method ${shaped(node.object)}.${node.method.name}(${given(node.arguments)})`;
    case 'Array':
      return `[${node.elements.map(shaped).join(', ')}]`;
    case 'Object':
      return `{${node.members.map((one) => `${one.key}: ${shaped(one.value)}`).join(', ')}}`;
    case 'Interval':
      return `${node.milliseconds}ms`;
    case 'Integer':
      return String(node.value);
    case 'Real':
      return `real ${node.value}`;
    case 'String':
      return JSON.stringify(node.value);
    case 'Boolean':
      return String(node.value);
    case 'Name':
      return node.name;
    case 'Null':
      return 'null';
    case 'Star':
      return '*';
  }
}

function given(node: Extract<Expression, { type: 'Call' }>['arguments']): string {
  const show = (value: { type: string }): string =>
    ['Select', 'Insert', 'Upsert', 'Update', 'Delete', 'Execute', 'Filter', 'Map'].includes(value.type)
      ? value.type
      : shaped(value as Expression);
  return [...node.positional.map(show), ...node.named.map((one) => `${one.name.name}: ${show(one.value)}`)].join(', ');
}

/** A condition with every level shown. */
export function conditionShape(text: string): string {
  const found = only('Delete', `DELETE Pump WHERE ${text}`);
  return shapedCondition(found.where);
}

export function shapedCondition(node: Condition): string {
  switch (node.type) {
    case 'LogicalCondition':
      return `${node.operator}(${node.terms.map(shapedCondition).join(', ')})`;
    case 'NotCondition':
      return `not(${shapedCondition(node.operand)})`;
    case 'Comparison':
      return `${shaped(node.left)} ${node.operator} ${shaped(node.right)}`;
    case 'QueryObject':
      return `query ${shaped(node.expression)}`;
  }
}
