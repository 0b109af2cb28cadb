// The resource `projects` (resources-and-api.md 4.21): named lists of resources, with further members that are stored unchanged.
import { convert } from '../../stdlib/convert/index.ts';
import { getOwn, isObject, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import { checkName } from '../../model/types/index.ts';
import { systemType, type DefinitionResource } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';

export const PROJECTS: DefinitionResource = {
  kind: 'definitions',
  name: 'projects',
  systemType: 'ArsProject',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  type: systemType('ArsProject', { name: 'String', type: 'String', resources: 'multi Object' }, ['name']),
  async define(_space, body) {
    const name = textField('projects', body, 'name');
    checkName('configuration', name);
    const fields = checkFields(PROJECTS, body, 'kept');
    const listed = Object.hasOwn(fields, 'resources') ? getOwn(fields, 'resources') : null;
    const resources = Array.isArray(listed) ? listed.map(entry) : [];
    return { name, object: { ...fields, resources }, apply: () => undefined };
  },
  async remove() {
    return { apply: () => undefined };
  },
};

/** An entry as `{resourceReference}` with its further members. */
function entry(value: Value): ObjectValue {
  const reference = isObject(value) && Object.hasOwn(value, 'resourceReference') ? getOwn(value, 'resourceReference') : null;
  if (!isObject(value) || reference === null) throw invalidField('projects', 'resources', 'an entry is an Object with a resourceReference');
  try {
    return { ...value, resourceReference: text(convert(reference, { type: 'ResourceReference' }, 'property')) };
  } catch {
    throw invalidField('projects', 'resources', 'a resourceReference is no ResourceReference');
  }
}
