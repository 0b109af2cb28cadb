// Describes a namespace (its own types and procedures, and the resources of the service) for the API's description.

import { getOwn, isObject, type ObjectValue, type Value } from '../stdlib/values/index.ts';
import { inSlices } from '../platform/structures/index.ts';
import { mayUse } from '../resources/access/index.ts';
import type { ApiDescription, DescribedProcedure, DescribedResource, Identity } from '../resources/api.ts';
import { baseSchema, typeToSchema } from '../model/types/index.ts';
import { instancesOf, type Namespace, type Resource } from '../resources/catalog/index.ts';
import { commandsOf } from '../resources/requests/index.ts';

const PROGRAMS = new Set(['rules', 'procedures']);

/** The description for a caller, without types and procedures of groups that it is not in. */
export async function describe(space: Namespace, caller: Identity): Promise<ApiDescription> {
  return {
    namespace: space.name,
    resources: await inSlices(space.name, resourcesFor(space, caller)),
    procedures: await inSlices(space.name, proceduresFor(space, caller)),
  };
}

function* resourcesFor(space: Namespace, caller: Identity): Generator<DescribedResource> {
  for (const { name, custom, resource } of space.catalog.features.addressed()) yield described(space, name, custom, resource);
  for (const account of space.catalog.features.installation)
    yield {
      name: account.name,
      custom: false,
      operations: account.operations,
      commands: account.commands.filter((command) => command !== 'getAuthorizedUsers'),
      answers: 'object',
      isProgram: false,
      schema: typeToSchema(account.type),
    };
  for (const type of [...space.catalog.types.values()])
    if (type.role === 'standard' && mayUse(space, 'types', type.name, caller)) yield described(space, type.name, true, instancesOf(type));
}

function* proceduresFor(space: Namespace, caller: Identity): Generator<DescribedProcedure> {
  for (const [name, object] of space.catalog.definitions.list('procedures'))
    if (getOwn(object, 'visibility') === 'PUBLIC' && mayUse(space, 'procedures', name, caller)) yield describedProcedure(name, object);
}

const described = (space: Namespace, name: string, custom: boolean, resource: Resource): DescribedResource => ({
  name,
  custom,
  operations: resource.operations,
  commands: custom ? [] : commandsOf(space, name),
  answers: resource.kind === 'instances' && resource.answers !== 'object' ? 'array' : 'object',
  isProgram: !custom && PROGRAMS.has(name),
  schema: typeToSchema(resource.type),
});

function describedProcedure(name: string, object: ObjectValue): DescribedProcedure {
  const parameters = (getOwn(object, 'parameters') ?? []) as ObjectValue[];
  const returnType = getOwn(object, 'returnType');
  return {
    name,
    description: textOf(getOwn(object, 'description')),
    parameters: parameters.map((parameter) => ({
      name: String(getOwn(parameter, 'name')),
      required: getOwn(parameter, 'required') === true,
      description: textOf(getOwn(parameter, 'description')),
      schema: schemaOf(parameter),
    })),
    returns: isObject(returnType) ? schemaOf(returnType) : null,
  };
}

/** The schema of a parameter or a result, `{type, multi}`; without a type it accepts any value. */
function schemaOf(declared: ObjectValue): ObjectValue {
  const type = getOwn(declared, 'type');
  const one = typeof type === 'string' ? baseSchema(type) : {};
  return getOwn(declared, 'multi') === true ? { type: 'array', items: one } : one;
}

const textOf = (value: Value): string | null => (typeof value === 'string' ? value : null);
