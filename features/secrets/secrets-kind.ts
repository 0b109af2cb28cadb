// The resource `secrets` (resources-and-api.md 4.21): users write it and cannot read it. A value is sealed with the key of its namespace,
// for its name.
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { systemType, type DefinitionResource, type Namespace, omit } from '../../resources/catalog/index.ts';
import { checkFields, textField } from '../../resources/definitions/index.ts';

const SEALED = 'sealed';

export const SECRETS: DefinitionResource = {
  kind: 'definitions',
  name: 'secrets',
  systemType: 'ArsSecret',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  type: systemType('ArsSecret', { name: 'String', description: 'String', secret: 'secret String' }, ['name']),
  hidden: SEALED,
  resealed: (object, again) => ({ ...object, [SEALED]: again(String(getOwn(object, SEALED)), place(String(getOwn(object, 'name')))) }),
  async define(space, body, stored) {
    const name = textField('secrets', body, 'name');
    checkName('configuration', name);
    const fields = checkFields(SECRETS, omit(body, [SEALED]), 'refused');
    const kept = stored && getOwn(stored, SEALED);
    const isGiven = Object.hasOwn(fields, 'secret');
    const given = isGiven ? getOwn(fields, 'secret') : null;
    if (given === null && (isGiven || !kept)) throw apiError('cascade.resource.property.required', 'secrets', 'secret');
    const sealed: Value = given === null ? kept : await seal(space, name, String(given));
    return { name, object: { ...omit(fields, ['secret']), [SEALED]: sealed }, apply: () => undefined };
  },
  show: (_space, stored) => omit(stored, [SEALED]),
  async remove() {
    return { apply: () => undefined };
  },
};

const place = (name: string): string => `secret ${name}`;

/** @throws cascade.resource.property.invalid: the service has no master key */
async function seal(space: Namespace, name: string, secret: string): Promise<string> {
  if (!space.installation.keys.areAvailable)
    throw apiError('cascade.resource.property.invalid', 'secrets', 'secret', 'the service was started without a master key');
  const cipher = await space.installation.keys.ensureCipher(space.name);
  return Buffer.from(cipher.seal(secret, place(name))).toString('base64');
}

/** The value of a secret; null: no secret has this name. */
export async function secretNamed(space: Namespace, name: string): Promise<string | null> {
  const stored: ObjectValue | undefined = space.catalog.definitions.get('secrets', name);
  if (!stored) return null;
  const cipher = await space.installation.keys.ensureCipher(space.name);
  return cipher.open(Buffer.from(String(getOwn(stored, SEALED)), 'base64'), place(name));
}
