// Topics (integrations.md 9): registration only describes a topic; messages can be published on any valid name.

import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { checkName } from '../../model/types/index.ts';
import { TOPIC_SHAPE, type DefinitionResource } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { deliveriesOf } from '../delivery/index.ts';

/** @throws cascade.topic.name.invalid, .reserved (integrations.md 9.1) */
export const checkTopic = (name: string): void => checkName('topic', name);

const DEFAULTS = { isReliable: false, redeliveryFrequency: 30, redeliveryTTL: 3600, autoUnwind: false, messageType: null } as const;
const LONGEST_FREQUENCY_SECONDS = 86_400;

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
    const object = { ...stored };
    for (const [name, value] of Object.entries(DEFAULTS)) object[name] = getOwn(stored, name) ?? value;
    object['redeliveryTTL'] = shownTtl(stored);
    return object;
  },
  async remove() {
    return { apply: () => undefined };
  },
};

/** The time to live, or its default, which is never below the frequency. */
export const shownTtl = (stored: ObjectValue): Value =>
  getOwn(stored, 'redeliveryTTL') ?? Math.max(DEFAULTS.redeliveryTTL, Number(getOwn(stored, 'redeliveryFrequency') ?? 0));

/** Checks frequency and time to live, in seconds (integrations.md 1.1). */
export function checkRedelivery(resource: string, fields: ObjectValue): void {
  const frequency = Number(getOwn(fields, 'redeliveryFrequency') ?? DEFAULTS.redeliveryFrequency);
  const ttl = Number(getOwn(fields, 'redeliveryTTL') ?? Math.max(DEFAULTS.redeliveryTTL, frequency));
  if (frequency < 1 || frequency > LONGEST_FREQUENCY_SECONDS)
    throw invalidField(resource, 'redeliveryFrequency', `not within 1 and ${LONGEST_FREQUENCY_SECONDS}`);
  if (ttl < frequency) throw invalidField(resource, 'redeliveryTTL', 'less than redeliveryFrequency');
}
