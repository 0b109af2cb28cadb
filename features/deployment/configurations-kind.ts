// Sets of resources for deployment to nodes (resources-and-api.md 4.20): a configuration names resources, a deployconfig names several
// partitions.

import { convert } from '../../stdlib/convert/index.ts';
import { getOwn, isObject, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import { toStoredForm } from '../../model/query/index.ts';
import { checkName } from '../../model/types/index.ts';
import { type ChangeAlong, CONFIGURATION_SHAPE, DEPLOYCONFIG_SHAPE, type DefinitionResource } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { nodeConditionFault } from '../nodes/index.ts';
import { RULES } from '../rules/index.ts';
import { SOURCES } from '../sources/index.ts';

const DEPLOYABLE: ReadonlySet<string> = new Set('types rules sources procedures topics scalars services configurations'.split(' '));
/** Resources that a configuration activates and deactivates. */
const ACTIVATABLE: Readonly<Record<string, DefinitionResource>> = { rules: RULES, sources: SOURCES };
const OPERATIONS = new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']);

export const CONFIGURATIONS: DefinitionResource = {
  kind: 'definitions',
  name: 'configurations',
  systemType: 'ArsConfiguration',
  operations: OPERATIONS,
  onExisting: 'update',
  type: CONFIGURATION_SHAPE,
  async define(_space, body, stored) {
    const name = textField('configurations', body, 'name');
    checkName('configuration', name);
    const fields = checkFields(CONFIGURATIONS, body, 'refused');
    const provisioningConstraint = constraintIn('configurations', fields);
    const resources = resourcesIn('configurations', fields);
    const active = own(fields, 'active') ?? true;
    const before = stored && (own(stored, 'active') ?? true);
    const object: ObjectValue = {
      ...fields,
      resources: resources.map(text),
      provisioningConstraint,
      provisionAsTree: own(fields, 'provisionAsTree') ?? true,
      active,
    };
    const switches = before !== null && before !== active;
    return {
      name,
      object,
      ...(switches ? { along: switched(resources, active) } : {}),
      apply: () => undefined,
    };
  },
  async remove() {
    return { apply: () => undefined };
  },
};

export const DEPLOYCONFIGS: DefinitionResource = {
  kind: 'definitions',
  name: 'deployconfigs',
  systemType: 'ArsDeployConfig',
  operations: OPERATIONS,
  onExisting: 'update',
  type: DEPLOYCONFIG_SHAPE,
  async define(_space, body) {
    const name = textField('deployconfigs', body, 'name');
    checkName('configuration', name);
    const fields = checkFields(DEPLOYCONFIGS, body, 'refused');
    const partitions = own(fields, 'partitions') ?? [];
    const checked = (Array.isArray(partitions) ? partitions : []).map((partition): Value => {
      if (!isObject(partition) || typeof own(partition, 'name') !== 'string')
        throw invalidField('deployconfigs', 'partitions', 'a partition is an Object with a name');
      const provisioningConstraint = constraintIn('deployconfigs', partition);
      return { ...partition, provisioningConstraint, resources: resourcesIn('deployconfigs', partition).map(text) };
    });
    return { name, object: { ...fields, partitions: checked }, apply: () => undefined };
  },
  async remove() {
    return { apply: () => undefined };
  },
};

const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

/** A condition on nodes, in the form that is stored (3.4). @throws errors of the condition */
function constraintIn(resource: string, fields: ObjectValue): Value {
  const where = own(fields, 'provisioningConstraint') ?? {};
  if (!isObject(where)) throw invalidField(resource, 'provisioningConstraint', 'no Object');
  const refused = nodeConditionFault(where);
  if (refused) throw refused;
  return toStoredForm(where);
}

/** The resources of a configuration, each as `{resource, resourceId}`. */
function resourcesIn(resource: string, fields: ObjectValue): ObjectValue[] {
  const listed = own(fields, 'resources') ?? [];
  if (!Array.isArray(listed)) throw invalidField(resource, 'resources', 'no array');
  return listed.map((one) => {
    const reference = referenceOf(one);
    if (!reference || !DEPLOYABLE.has(String(getOwn(reference, 'resource'))))
      throw invalidField(resource, 'resources', `not a reference to one of ${[...DEPLOYABLE].join(', ')}`);
    return reference;
  });
}

function referenceOf(value: Value): ObjectValue | null {
  try {
    const found = convert(value, { type: 'ResourceReference' }, 'property') as ObjectValue;
    return { ...found, resource: String(getOwn(found, 'resource')).replace(/^system\./, '') };
  } catch {
    return null; // an invalid value is no reference
  }
}

/** All rules and sources of a configuration, activated or deactivated. */
const switched = (resources: readonly ObjectValue[], active: Value): ChangeAlong[] =>
  (resources as { resource: string; resourceId: string }[]).flatMap(({ resource, resourceId }) => {
    const kind = ACTIVATABLE[resource];
    return kind ? [{ kind, name: resourceId, changes: { active } }] : [];
  });
