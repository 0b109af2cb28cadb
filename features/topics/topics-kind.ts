// Topics (integrations.md 9): registration only describes a topic; messages can be published on any valid name.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { checkName } from '../../model/types/index.ts';
import { TOPIC_SHAPE, type DefinitionResource } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { deliveriesOf, wrongRedelivery, redeliveryOf } from '../delivery/index.ts';

/** @throws cascade.topic.name.invalid, .reserved (integrations.md 9.1) */
export const checkTopic = (name: string): void => checkName('topic', name);

const DEFAULTS = { isReliable: false, autoUnwind: false, messageType: null } as const;

export const TOPICS: DefinitionResource = {
  kind: 'definitions',
  name: 'topics',
  systemType: 'ArsTopic',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete', 'publish']),
  onExisting: 'update',
  type: TOPIC_SHAPE,
  async define(space, body) {
    const name = textField('topics', body, 'name');
    checkTopic(name);
    const fields = checkFields(TOPICS, body, 'kept');
    checkRedelivery('topics', fields);
    const prepare = getOwn(fields, 'isReliable') === true ? { prepare: () => deliveriesOf(space).ensureCollections() } : {};
    return { name, object: fields, ...prepare, apply: () => undefined };
  },
  show(_space, stored) {
    const object: ObjectValue = { ...stored, ...redeliveryOf(stored) };
    for (const [name, value] of Object.entries(DEFAULTS)) object[name] = getOwn(stored, name) ?? value;
    return object;
  },
  async remove() {
    return { apply: () => undefined };
  },
};

/** @throws resource.property.invalid: the frequency or the time to live is out of range */
export function checkRedelivery(resource: string, fields: ObjectValue): void {
  const found = wrongRedelivery(fields);
  if (found) throw invalidField(resource, found.field, found.reason);
}
