// Tree to canonical text: parsing the text gives the same tree, spans apart. Comments other than the description are not in the tree, so
// this is no formatter of a user's file; it serves rewriting, comparison and tests.
import type { BeforeClause, Definition, Expression, Parameter, ProcedureDefinition, RuleDefinition, TypeRef, WhenClause } from '../ast.ts';
import { where } from './conditions.ts';
import { expression } from './expressions.ts';
import { options, type Page, string } from './page.ts';
import { resource } from './resources.ts';
import { block, lines } from './statements.ts';
import { trigger } from './triggers.ts';

const PAGE: Page = { indent: '', expression, block, resource };

export function print(tree: Definition): string {
  return head(tree) + (tree.type === 'Rule' ? rule(tree) : procedure(tree));
}

/** A trigger alone: the clauses of two rules are the same when their texts are (V6). */
export const printTrigger = (node: WhenClause | BeforeClause): string => trigger(PAGE, node);
export const printExpression = (node: Expression): string => expression(PAGE, node);

function head(tree: Definition): string {
  const comment = tree.description === '' ? [] : tree.description.split('\n').map((line) => `// ${line}`.trimEnd());
  const imports = tree.imports.map((node) => {
    const target = node.target.type === 'String' ? string(node.target.value) : node.target.text;
    return `IMPORT ${node.kind.toUpperCase()} ${target}${node.alias ? ` AS ${node.alias.name}` : ''}`;
  });
  const found = [...comment, ...(tree.package ? [`PACKAGE ${tree.package.name.text}`] : []), ...imports];
  return found.map((line) => `${line}\n`).join('');
}

function rule(tree: RuleDefinition): string {
  const constraint = tree.activationConstraint && `ACTIVATIONCONSTRAINT ${expression(PAGE, tree.activationConstraint)}`;
  return [
    `RULE ${tree.name.name}${tree.version ? `:${tree.version.text}` : ''}${where(PAGE, tree.where)}`,
    ...(constraint ? [constraint] : []),
    trigger(PAGE, tree.trigger),
    ...(tree.body.length > 0 ? [lines(PAGE, tree.body, 'body')] : []),
    ...(tree.timeout ? ['TIMEOUT'] : []),
    ...(tree.timeout && tree.timeout.length > 0 ? [lines(PAGE, tree.timeout, 'body')] : []),
    '',
  ].join('\n');
}

const ACCESS = { global: 'GLOBAL ', multiPartition: 'MULTI PARTITION ', stateless: 'STATELESS ' };

function procedure(tree: ProcedureDefinition): string {
  const modifiers = `${tree.private ? 'PRIVATE ' : ''}${tree.access ? ACCESS[tree.access] : ''}`;
  const returns = tree.returns
    ? `: ${typeRef(tree.returns.typeRef)}${tree.returns.cardinality ? ` ${tree.returns.cardinality.toUpperCase()}` : ''}`
    : '';
  return [
    `${modifiers}PROCEDURE ${tree.name.text}(${tree.parameters.map(parameter).join(', ')})${returns}${tree.hidden ? ' HIDDEN' : ''}`,
    ...(tree.options.length > 0 ? [options(PAGE, tree.options).trimStart()] : []),
    ...(tree.body.length > 0 ? [lines(PAGE, tree.body, 'body')] : []),
    '',
  ].join('\n');
}

const typeRef = (node: TypeRef): string => node.name.text + (node.argument ? `(${node.argument.value})` : '');

function parameter(node: Parameter): string {
  return [
    node.name.name,
    ...(node.typeRef ? [typeRef(node.typeRef)] : []),
    ...(node.array ? ['ARRAY'] : []),
    ...(node.required ? ['REQUIRED'] : []),
    ...(node.default ? [`DEFAULT ${expression(PAGE, node.default)}`] : []),
    ...(node.description ? [`DESCRIPTION ${string(node.description.value)}`] : []),
  ].join(' ');
}
