// WHEN and BEFORE clauses to text (language.md 2.2). Two clauses with the same text are the same clause (V6).
import type { BeforeClause, CorrelationTrigger, SingleTrigger, Trigger, WhenClause } from '../ast.ts';
import { condition, where } from './conditions.ts';
import { expression } from './expressions.ts';
import { type Page, type Printers, printBy, string } from './page.ts';

type Part = Trigger | BeforeClause | WhenClause;
const printers: Printers<Part> = {
  When: (page, node) => {
    const kind = node.expect?.kind.toUpperCase();
    return `WHEN ${part(page, node.trigger)}${node.expect ? ` EXPECT ${kind} ${expression(page, node.expect.interval)}` : ''}`;
  },
  Before: (page, node) => `BEFORE ${node.operation.toUpperCase()} ON ${node.target.text}${tail(page, node)}`,
  MergeTrigger: (page, node) => {
    const branches = node.branches.map((branch) => part(page, branch)).join(' OR ');
    return branches + constrainTo(page, node.constraint);
  },
  CorrelationTrigger: (page, node) => {
    const right = node.right.type === 'CorrelationTrigger' ? `(${part(page, node.right)})` : part(page, node.right);
    const within = expression(page, node.within);
    return `${part(page, node.left)} ${node.operator.toUpperCase()} ${right} WITHIN ${within}${constrainTo(page, node.constraint)}`;
  },
  EventTrigger: (page, node) => `EVENT OCCURS ON ${string(node.path.value)}${tail(page, node)}`,
  TypeTrigger: (page, node) =>
    `${node.operation ? `${node.operation.toUpperCase()} ` : ''}OCCURS ON ${node.target.text}${tail(page, node)}`,
  TopicTrigger: (page, node) => `PUBLISH OCCURS ON ${string(node.topic.value)}${tail(page, node)}`,
  SourceTrigger: (page, node) => `MESSAGE ARRIVES FROM ${node.source.text}${tail(page, node)}`,
};
const part = printBy<Part>(printers);

export const trigger = (page: Page, node: WhenClause | BeforeClause): string => part(page, node);

const constrainTo = (page: Page, node: CorrelationTrigger['constraint']): string => (node ? ` CONSTRAIN TO ${condition(page, node)}` : '');
const tail = (page: Page, node: Pick<SingleTrigger, 'alias' | 'where'>): string =>
  (node.alias ? ` AS ${node.alias.name}` : '') + where(page, node.where);
