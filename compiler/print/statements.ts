// Statements and blocks to text (language.md 2.3), one to a line. Since no sign ends a statement, care is taken that the next line is not
// read as more of it (L15 to L19).
import type { Block, Create, Drop, ExpressionStatement, If, Publish, Recommendations, ResourceStatement, Statement } from '../ast.ts';
import { isContextual } from '../1-parse/index.ts';
import { expression } from './expressions.ts';
import { deeper, options, type Page, type Printers, printBy, ref, value } from './page.ts';
import { loopHead, processedBy, resource, until } from './resources.ts';

const asResource = (page: Page, node: ResourceStatement): string => resource(page, node);
const printers: Printers<Statement> = {
  Var: (page, node) => `var ${node.name.name}${node.value ? ` = ${value(page, node.value)}` : ''}`,
  Assign: (page, node) => `${expression(page, node.target)} ${node.operator} ${value(page, node.value)}`,
  If: conditional,
  For: (page, node) => `for (${loopHead(page, node, 'in')}) ${block(page, node.body)}`,
  While: (page, node) => `while (${value(page, node.condition)}) ${block(page, node.body)}`,
  Try: (page, node) =>
    `try ${block(page, node.body)} catch (${node.variable.name}) ${block(page, node.handler)}` +
    (node.finalizer ? ` finally ${block(page, node.finalizer)}` : ''),
  Return: (page, node) => (node.value ? `return ${value(page, node.value)}` : 'return'),
  Publish: publish,
  PublishRequest: (page, node) =>
    `PUBLISH REQUEST ON ${ref(node.target)} WITH ${expression(page, node.value)}${processedBy(page, node.processedBy)}`,
  Create: create,
  Drop: (page, node: Drop) => `DROP ${node.kind.toUpperCase()} ${ref(node.target)}${processedBy(page, node.processedBy)}`,
  Recommendations: recommendations,
  Recommend: (page, node) => `RECOMMEND ${expression(page, node.candidate)}${options(page, node.options)}`,
  ExpressionStatement: expressionStatement,
  Select: asResource,
  Insert: asResource,
  Upsert: asResource,
  Update: asResource,
  Delete: asResource,
  Execute: asResource,
  Filter: asResource,
  Map: asResource,
};
export const statement = printBy<Statement>(printers);

export function block(page: Page, node: Block): string {
  if (node.body.length === 0) return '{ }';
  const inner = deeper(page);
  return `{\n${lines(inner, node.body, 'block')}\n${page.indent}}`;
}

/** One statement a line; a `;` where a line end alone would not part two of them. */
export function lines(page: Page, statements: readonly Statement[], place: 'block' | 'body'): string {
  const texts = statements.map((node) => statement(page, node));
  const parted = texts.map((text, index) => {
    const next = statements[index + 1];
    const isBare = statements[index]!.type === 'Return' && text === 'return';
    return next && (isBare || isKeywordLike(LAST_WORD.exec(text)) || beginsLikeKeyword(next, texts[index + 1]!)) ? `${text};` : text;
  });
  const [first] = statements;
  const guard = place === 'body' && first && beginsLikeKeyword(first, texts[0]!) ? `${page.indent};\n` : '';
  return guard + parted.map((text) => page.indent + text).join('\n');
}

const FIRST_WORD = /^[A-Za-z_]\w*/;
const LAST_WORD = /(?<!\w)[A-Za-z_]\w*$/;
const isKeywordLike = (found: RegExpExecArray | null): boolean => found !== null && isContextual(found[0]);
/** An assignment to a variable that is called like a keyword. */
const beginsLikeKeyword = (node: Statement, text: string): boolean => node.type === 'Assign' && isKeywordLike(FIRST_WORD.exec(text));

/** In parentheses when its first token could be taken for something else: an operator, a block, a keyword. */
function expressionStatement(page: Page, node: ExpressionStatement): string {
  const text = expression(page, node.expression);
  return /^[-+{]/.test(text) || isKeywordLike(FIRST_WORD.exec(text)) ? `(${text})` : text;
}

function conditional(page: Page, node: If): string {
  const parts: string[] = [];
  let at: If | Block | null = node;
  for (; at?.type === 'If'; at = at.otherwise) parts.push(`if (${value(page, at.condition)}) ${block(page, at.then)}`);
  if (at) parts.push(block(page, at));
  return parts.join(' else ');
}

const DESTINATIONS = { topic: 'TOPIC', source: 'SOURCE', serviceEvent: 'SERVICE EVENT' };
function publish(page: Page, node: Publish): string {
  return (
    `PUBLISH ${expression(page, node.value)} TO ${DESTINATIONS[node.kind]} ${ref(node.target)}` +
    (node.schedule ? ` SCHEDULE ${expression(page, node.schedule)}` : '') +
    (node.using ? ` USING ${expression(page, node.using)}` : '') +
    processedBy(page, node.processedBy)
  );
}

function create(page: Page, node: Create): string {
  const head = `${node.verb.toUpperCase()} ${node.kind.toUpperCase()} (${expression(page, node.value)})`;
  return head + options(page, node.options) + processedBy(page, node.processedBy);
}

function recommendations(page: Page, node: Recommendations): string {
  const head = `FILTER (${loopHead(page, { variable: node.variable, collection: node.collection })}) RECOMMENDATIONS TO ${node.result.name}`;
  return `${head}${until(page, node.until)} DO MATCH ${block(page, node.body)}`;
}
