// Conditions to text (language.md 2.5).
import type { Condition } from '../ast.ts';
import { ADDITIVE, at, expression, spelled } from './expressions.ts';
import { type Page, type Printers, printBy } from './page.ts';

const printers: Printers<Condition> = {
  LogicalCondition: (page, node) => node.terms.map((term) => operand(page, term)).join(` ${spelled(node.operator)} `),
  NotCondition: (page, node) => `NOT (${condition(page, node.operand)})`,
  Comparison: (page, node) => `${at(page, node.left, ADDITIVE)} ${spelled(node.operator)} ${at(page, node.right, ADDITIVE)}`,
  QueryObject: (page, node) => expression(page, node.expression),
};
export const condition = printBy<Condition>(printers);

const operand = (page: Page, node: Condition): string =>
  node.type === 'LogicalCondition' ? `(${condition(page, node)})` : condition(page, node);

export const where = (page: Page, node: Condition | null): string => (node ? ` WHERE ${condition(page, node)}` : '');
