// The compiled unit around a module: names, triggers, conditions, parameters as plain data.
import type { ProcedureDefinition, RuleDefinition } from '../ast.ts';
import type { Model } from '../2-check/index.ts';
import { constantText } from '../2-check/constants.ts';
import { raisedPaths } from './raised.ts';
import type { CompiledModule, CompiledProcedure, CompiledRule, Diagnostic } from '../types.ts';

export function emitUnit(model: Model, module: CompiledModule, warnings: readonly Diagnostic[]): CompiledRule | CompiledProcedure {
  const { definition } = model;
  return definition.type === 'Rule' ? ruleUnit(model, definition, module, warnings) : procedureUnit(model, definition, module, warnings);
}

function ruleUnit(model: Model, node: RuleDefinition, module: CompiledModule, warnings: readonly Diagnostic[]): CompiledRule {
  const facts = model.rule;
  if (!facts) throw new Error('a rule without its facts');
  const { trigger } = node;
  const name = model.package === null ? node.name.name : `${model.package}.${node.name.name}`;
  return {
    kind: 'rule',
    name,
    version: node.version?.text ?? null,
    fullName: node.version ? `${name}:${node.version.text}` : name,
    package: model.package,
    description: node.description,
    timing: trigger.type === 'When' ? 'when' : 'before',
    triggers: facts.triggers,
    where: facts.where,
    constraint: facts.constraint,
    correlation: facts.correlation,
    expect: trigger.type === 'When' && trigger.expect ? { kind: trigger.expect.kind, intervalMs: facts.expectMs ?? 0 } : null,
    hasTimeout: node.timeout !== null,
    activationConstraint: constraintText(node),
    variables: facts.variables,
    raises: raisedPaths(node, model.names),
    module,
    warnings,
  };
}

function constraintText(node: RuleDefinition): string | null {
  const constraint = node.activationConstraint;
  if (constraint === null) return null;
  return constraint.type === 'String' ? constraint.value : (constantText(constraint) ?? null);
}

function procedureUnit(
  model: Model,
  node: ProcedureDefinition,
  module: CompiledModule,
  warnings: readonly Diagnostic[],
): CompiledProcedure {
  const facts = model.procedure;
  if (!facts) throw new Error('a procedure without its facts');
  const argument = node.returns?.typeRef.argument;
  return {
    kind: 'procedure',
    name: facts.name,
    serviceName: facts.serviceName,
    package: model.package,
    description: node.description,
    private: node.private,
    hidden: node.hidden,
    access: node.access,
    state: model.stateAccess,
    parameters: facts.parameters,
    returns: node.returns && {
      ...(facts.returnType ?? { type: 'Any' }),
      ...(argument && { [facts.returnType?.type === 'String' ? 'maxLength' : 'scale']: Number(argument.value) }),
      cardinality: node.returns.cardinality,
    },
    options: facts.options,
    module,
    warnings,
  };
}
