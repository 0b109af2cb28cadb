// Procedures (resources-and-api.md 4.4), and the services that they imply (4.5).

import { committing } from '../../runtime/context/index.ts';
import { decodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { CompiledProcedure, ServiceStateNames } from '../../compiler/index.ts';
import { builtinTable, isBuiltinService } from '../../stdlib/builtins/index.ts';
import { langError } from '../../stdlib/errors.ts';
import { apiError } from '../../model/errors/index.ts';
import type { ResolvedProcedure } from '../../sandbox/index.ts';
import { BASE_TYPES, checkName } from '../../model/types/index.ts';
import { mayUseThis, hasRightsOfItsOwn } from '../../resources/access/index.ts';
import { requireGrantable } from '../accounts/index.ts';
import { PROCEDURE_SHAPE, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import {
  checkFields,
  textField,
  warningsOf,
  withoutOldText,
  putDefinition,
  withReferenceErrors,
} from '../../resources/definitions/index.ts';
import { programOf } from '../../runtime/programs/index.ts';
import { stateNamesOf, SERVICES } from '../services/index.ts';

export const PROCEDURES: DefinitionResource = {
  kind: 'definitions',
  name: 'procedures',
  systemType: 'ArsProcedure',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete', 'execute']),
  onExisting: 'update',
  type: PROCEDURE_SHAPE,
  enforce: (space, name) => space.execution.sandbox.procedureChanged(space.name, name),
  async define(space, body, stored, actor) {
    const text = textField('procedures', body, 'ruleText');
    const procedure = await space.execution.compilations.compile(text, {
      kind: 'procedure',
      stateOf: (service) => stateNamesOf(space, service),
    });
    checkName('procedure', procedure.name);
    checkParts(procedure);
    checkIsNoBuiltin(procedure, stored !== null);
    if (stored && getOwn(stored, 'name') !== procedure.name)
      throw apiError('cascade.resource.id.mismatch', String(getOwn(stored, 'name')), procedure.name);
    const { serviceName } = procedure;
    const object = {
      ...checkFields(PROCEDURES, await withoutOldText(body, stored, (source) => givenBy(space, source)), 'refused'),
      ...describe(space, procedure),
      ruleText: text,
      ...warningsOf(procedure.warnings),
    };
    requireGrantable(requireProfiles(object), actor.identity);
    return {
      name: procedure.name,
      object,
      prepare: async () => {
        if (stored && sourceOf(stored) !== text) await space.execution.compilations.dropProcedure(sourceOf(stored), stateOf(space, stored));
        await space.execution.compilations.keepProcedure(text, serviceName === null ? null : stateNamesOf(space, serviceName), procedure);
        if (serviceName !== null && !space.catalog.definitions.get('services', serviceName))
          await putDefinition(
            space,
            SERVICES,
            { name: serviceName },
            committing(actor, (unit) => space.transactions.submit(unit)),
            true,
          );
      },
      apply: () => space.execution.sandbox.procedureChanged(space.name, procedure.name),
    };
  },
  /** Only members of its group and admins see a procedure in a group (language.md P8). */
  maySee: mayUseThis,
  /** A procedure whose parameters or result name a type that no longer exists is shown as erroneous. */
  show: (space, stored) => withReferenceErrors(space, stored, namedTypes(stored)),
  async remove(space, stored) {
    return {
      prepare: () => space.execution.compilations.dropProcedure(sourceOf(stored), stateOf(space, stored)),
      apply: () => space.execution.sandbox.procedureChanged(space.name, String(getOwn(stored, 'name'))),
    };
  },
};

/**
 * A procedure that may be called without a login must name profiles, since its caller has none (language.md P8).
 * @returns the profiles of the procedure
 */
function requireProfiles(object: ObjectValue): string[] {
  const profiles = Object.hasOwn(object, 'profiles') ? getOwn(object, 'profiles') : null;
  if (profiles !== null && !(Array.isArray(profiles) && profiles.every((name) => typeof name === 'string')))
    throw apiError('cascade.resource.property.invalid', 'procedures', 'profiles', 'no array of String');
  const isOpen = Object.hasOwn(object, 'ars_public') && getOwn(object, 'ars_public') === true;
  if (isOpen && (profiles === null || profiles.length === 0))
    throw apiError('cascade.resource.property.required', 'procedures', 'profiles');
  return profiles ?? [];
}

/** Checks a name: behind the package it has at most one service part (language.md N4). */
function checkParts({ name, package: prefix }: CompiledProcedure): void {
  const own = prefix === null ? name : name.slice(prefix.length + 1);
  if (own.split('.').length > 2) throw apiError('cascade.resource.name.invalid', name, 'more than one service');
}

/** No procedure has the name of a built-in, and no new one is added to a built-in service (language.md N1, builtins.md C8). */
function checkIsNoBuiltin({ name, serviceName }: CompiledProcedure, isStored: boolean): void {
  if (builtinTable().has(name) || (!isStored && serviceName !== null && isBuiltinService(serviceName)))
    throw langError('cascade.procedure.name.builtin', name);
}

const OPTIONS = ['ars_public', 'ars_group', 'ars_dependentResource', 'ars_relationships', 'profiles', 'updateInterface'];

/** Fields that come from options of the procedure's text. */
function optionFields(procedure: CompiledProcedure): ObjectValue {
  const fields: ObjectValue = procedure.description ? { description: procedure.description } : {};
  for (const name of ['properties', ...OPTIONS]) {
    const text = procedure.options[name];
    if (text !== undefined) setOwn(fields, name === 'properties' ? 'ars_properties' : name, decodeInner(text));
  }
  return fields;
}

/** Fields of the previous text that a new text resets; the group of a procedure is permanent (language.md P8). */
async function givenBy(space: Namespace, source: string): Promise<ObjectValue> {
  const { ars_group: _, ...fields } = optionFields(
    await space.execution.compilations.compile(source, { kind: 'procedure', stateOf: (service) => stateNamesOf(space, service) }),
  );
  return fields;
}

function describe(space: Namespace, procedure: CompiledProcedure): ObjectValue {
  return {
    name: procedure.name,
    serviceName: procedure.serviceName,
    parameters: procedure.parameters.map(
      (parameter): Value => ({
        name: parameter.name,
        type: meantType(space, parameter),
        multi: parameter.array,
        required: parameter.required,
        description: parameter.description,
      }),
    ),
    returnType:
      procedure.returns === null ? null : { type: meantType(space, procedure.returns), multi: procedure.returns.cardinality !== null },
    visibility: procedure.private ? 'PRIVATE' : 'PUBLIC',
    hidden: procedure.hidden,
    ...optionFields(procedure),
  };
}

/** A standard type in a spelling of its own, unless a type of the namespace is spelled so (language.md P1). */
function meantType<Type extends string | null>(space: Namespace, { type, written }: { type: Type; written?: string }): Type | string {
  return written !== undefined && space.catalog.types.has(written) ? written : type;
}

/** User-defined types that parameters and result name. */
function namedTypes(stored: ObjectValue): string[] {
  const parameters = Object.hasOwn(stored, 'parameters') ? getOwn(stored, 'parameters') : null;
  const returnType = Object.hasOwn(stored, 'returnType') ? getOwn(stored, 'returnType') : null;
  return [...(Array.isArray(parameters) ? parameters : []), returnType]
    .map((one) => (isObject(one) ? getOwn(one, 'type') : null))
    .filter((type): type is string => typeof type === 'string' && !OTHER_TYPES.has(type));
}

const OTHER_TYPES: ReadonlySet<string> = new Set([...BASE_TYPES, 'Any', 'Map', 'Value']);

/** The program of a procedure as the sandbox calls it, with the source positions for errors. */
export interface Callable {
  readonly resolved: ResolvedProcedure;
  readonly map: string;
}

/** The callable program of a procedure: compiled, or read from the compilation cache, at its first call. */
export async function callableOf(space: Namespace, name: string, compiled: Map<string, KnownProcedure>): Promise<Callable | null> {
  const object = space.catalog.definitions.get('procedures', name);
  if (!object) return null;
  const source = sourceOf(object);
  const state = stateOf(space, object);
  const apart = hasRightsOfItsOwn(object);
  const text = `${source}\n${JSON.stringify(state)}${apart}`; // another state gives another program
  const known = compiled.get(name);
  if (known?.text === text) return withTypes(space, known);
  const procedure = await space.execution.compilations.loadProcedure(source, state);
  const { parameters, returns } = procedure;
  const resolved: ResolvedProcedure = {
    name: procedure.name,
    program: programOf(procedure.module, procedure.name),
    private: procedure.private,
    service: procedure.serviceName,
    state: procedure.state,
    ...(apart && { apart }),
    parameters: parameters.map(({ description: _, ...parameter }) => parameter),
    returns: returns === null ? null : { ...returns },
  };
  const loaded = {
    text,
    callable: { resolved, map: procedure.module.map },
    hasTurned: [returns, ...parameters].some((one) => one?.written !== undefined),
  };
  compiled.set(name, loaded);
  return withTypes(space, loaded);
}

/** What is known of a text; `hasTurned`: it spells standard types in its own way. */
export interface KnownProcedure {
  readonly text: string;
  readonly callable: Callable;
  readonly hasTurned: boolean;
}

function withTypes(space: Namespace, { callable, hasTurned }: KnownProcedure): Callable {
  if (!hasTurned) return callable;
  const { parameters, returns } = callable.resolved;
  const meant = <One extends { type: string | null; written?: string }>(one: One): One => ({ ...one, type: meantType(space, one) });
  return { ...callable, resolved: { ...callable.resolved, parameters: parameters.map(meant), returns: returns && meant(returns) } };
}

const sourceOf = (object: ObjectValue): string => String(getOwn(object, 'ruleText'));

function stateOf(space: Namespace, object: ObjectValue): ServiceStateNames | null {
  const service = getOwn(object, 'serviceName');
  return typeof service === 'string' ? stateNamesOf(space, service) : null;
}
