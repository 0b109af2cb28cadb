// What a namespace offers (its own types and procedures, and the resources of the service), for who describes the API to clients.

import { getOwn, isObject, type ObjectValue, type Value } from '../stdlib/values/index.ts';
import type { ApiDescription, DescribedProcedure, DescribedResource } from '../resources/api.ts';
import { baseSchema, typeToSchema } from '../model/types/index.ts';
import { instancesOf } from '../resources/catalog/catalogue.ts';
import { commandsOf } from '../resources/requests/commands.ts';
import type { Namespace, Resource } from '../resources/catalog/types.ts';

const PROGRAMS = new Set(['rules', 'procedures']);

export function describe(space: Namespace): ApiDescription {
  const own = [...space.types.values()]
    .filter(({ role }) => role === 'standard')
    .map((type) => described(space, type.name, true, instancesOf(type)));
  const accounts = space.features.installation.map(
    (account): DescribedResource => ({
      name: account.name,
      custom: false,
      operations: account.operations,
      commands: account.commands.filter((command) => command !== 'getAuthorizedUsers'),
      answers: 'object',
      isProgram: false,
      schema: typeToSchema(account.type),
    }),
  );
  return {
    namespace: space.name,
    resources: [
      ...[...space.features.addressed()].map(({ name, custom, resource }) => described(space, name, custom, resource)),
      ...accounts,
      ...own,
    ],
    procedures: space.definitions
      .list('procedures')
      .filter(([, object]) => getOwn(object, 'visibility') === 'PUBLIC')
      .map(([name, object]) => describedProcedure(name, object)),
  };
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

/** `{type, multi}` of a parameter or a result; without a type it is anything. */
function schemaOf(declared: ObjectValue): ObjectValue {
  const type = getOwn(declared, 'type');
  const one = typeof type === 'string' ? baseSchema(type) : {};
  return getOwn(declared, 'multi') === true ? { type: 'array', items: one } : one;
}

const textOf = (value: Value): string | null => (typeof value === 'string' ? value : null);
