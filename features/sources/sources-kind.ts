// Definitions of sources (integrations.md 1): where messages come from and go to. Secrets of their configs are sealed and never shown.

import { isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { checkName, type PropertyDefinition, type TypeDefinition } from '../../model/types/index.ts';
import { checkConfig, DIRECTIONS } from './config.ts';
import { requireUnmoved } from './moved-secrets.ts';
import { namesSecret } from './named-secrets.ts';
import { own } from './protocols/fields.ts';
import { type Direction, type Protocol, protocolOf } from './protocols/index.ts';
import { isSecret, remaining, resealed, sealed, splitConfig, wholeConfig } from './secrets.ts';
import type { Identity } from '../../identity/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import { resolve, SOURCE_SHAPE, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { nodeConditionFault } from '../nodes/index.ts';
import { checkRedelivery } from '../topics/index.ts';
import { deliveriesOf, redeliveryOf } from '../delivery/index.ts';
import { sourcesOf } from './namespace-state.ts';

const DEFAULTS = {
  active: true,
  pipelineRules: [],
  activationConstraint: '',
  messageType: null,
  autoUnwind: false,
  isReliable: false,
  mockMode: false,
  mockProcedures: {},
} as const;
/** Properties that only the service sets, and the stored secrets; values that a caller gives are ignored. */
const SET_BY_SERVICE = ['secrets', 'state', 'isUnavailable'];

const CONFIG = SOURCE_SHAPE.properties.get('config') as PropertyDefinition;
/** The properties that conditions can query: secrets of the config are not among them. */
const SHAPE: TypeDefinition = {
  ...SOURCE_SHAPE,
  properties: new Map([...SOURCE_SHAPE.properties, ['config', { ...CONFIG, hidesMember: isSecret }]]),
};

export const SOURCES: DefinitionResource = {
  kind: 'definitions',
  name: 'sources',
  systemType: 'ArsSource',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete', 'publish', 'query', 'status', 'channels']),
  onExisting: 'update',
  type: SHAPE,
  listed: SOURCE_SHAPE,
  hidden: 'secrets',
  resealed: (object, again) => {
    const secrets = own(object, 'secrets');
    return isObject(secrets) ? { ...object, secrets: resealed(String(own(object, 'name')), secrets, again) } : object;
  },
  audited: true,
  enforce(space, name, object) {
    if (object) sourcesOf(space).put(name, object);
    else sourcesOf(space).remove(name);
  },
  async define(space, body, stored, { identity }) {
    const name = textField('sources', body, 'name');
    checkName('source', name);
    const type = textField('sources', body, 'type');
    const kind = protocolOf(type);
    if (!kind) throw apiError('cascade.source.type.unknown', name, `there is no type ${type}`);
    if (stored && own(stored, 'type') !== type)
      throw apiError('cascade.source.type.immutable', name, `it is of type ${String(own(stored, 'type'))}`);
    const fields: ObjectValue = { ...checkFields(SOURCES, body, 'kept') };
    for (const field of SET_BY_SERVICE) delete fields[field];
    const direction = own(fields, 'direction') ?? kind.directions[0] ?? 'BOTH';
    if (!DIRECTIONS.includes(String(direction))) throw invalidField('sources', 'direction', `none of ${DIRECTIONS.join(', ')}`);
    if (!kind.directions.includes(direction as Direction))
      throw apiError('cascade.source.direction', name, `${type} is ${kind.directions.join(', ')} only`);
    if (own(fields, 'isReliable') === true && !kind.canBeReliable)
      throw apiError('cascade.source.reliable.unsupported', name, `${type} cannot be reliable`);
    checkRedelivery('sources', fields);
    checkLists(fields);
    checkConstraint(fields);
    const config = own(fields, 'config') ?? {};
    if (!isObject(config)) throw invalidField('sources', 'config', 'no Object');
    const { config: open, secrets } = await configured(space, name, kind, config, stored, identity);
    return {
      name,
      object: { ...fields, direction, active: own(fields, 'active') ?? true, config: open, secrets },
      ...(own(fields, 'isReliable') === true ? { prepare: () => deliveriesOf(space).ensureCollections() } : {}),
      apply: (object) => sourcesOf(space).put(name, object),
    };
  },
  show(space, stored) {
    const object: ObjectValue = { ...stored, ...redeliveryOf(stored) };
    delete object['secrets'];
    for (const [field, value] of Object.entries(DEFAULTS)) object[field] = own(stored, field) ?? (value as Value);
    const { state, isUnavailable } = sourcesOf(space).stateOf(stored);
    return { ...object, state, isUnavailable };
  },
  async remove(space, stored) {
    const name = String(own(stored, 'name'));
    return { apply: () => sourcesOf(space).remove(name), settle: () => sourcesOf(space).forget(name) };
  },
};

/** The config as stored, and its secrets; both are checked as a whole. */
async function configured(
  space: Namespace,
  name: string,
  kind: Protocol,
  config: ObjectValue,
  stored: ObjectValue | null,
  editor: Identity,
): Promise<{ config: ObjectValue; secrets: ObjectValue }> {
  const { open, secrets } = splitConfig(config);
  const before = own(stored ?? {}, 'secrets');
  const kept = isObject(before) ? remaining(before, open, secrets) : {};
  requireUnmoved(space, { name, stored, open, kept: Object.keys(kept) }, editor);
  if (secrets.size === 0 && Object.keys(kept).length === 0) {
    requireNamedSecrets(space, open, editor);
    checkConfig(kind, open, sourcesOf(space).outlet);
    return { config: open, secrets: {} };
  }
  const [field = ''] = secrets.keys();
  if (!space.installation.keys.areAvailable)
    throw apiError('cascade.source.config.invalid', field, 'the service has no master key to keep it with');
  const cipher = await space.installation.keys.ensureCipher(space.name);
  const after = sealed(cipher, name, kept, secrets);
  const whole = wholeConfig(cipher, name, open, after);
  requireNamedSecrets(space, whole, editor);
  checkConfig(kind, whole, sourcesOf(space).outlet);
  return { config: open, secrets: after };
}

/**
 * A source sends the secrets that its config names wherever the config says, so only who may use them (resources-and-api.md 4.21) names them,
 * or changes what does. @throws cascade.authorization.denied
 */
function requireNamedSecrets(space: Namespace, config: ObjectValue, editor: Identity): void {
  if (namesSecret(config)) requireRight(space, resolve(space, 'secrets', false), 'select', editor);
}

function checkLists(fields: ObjectValue): void {
  const rules = own(fields, 'pipelineRules');
  if (Array.isArray(rules) && !rules.every((rule) => typeof rule === 'string'))
    throw invalidField('sources', 'pipelineRules', 'no array of Strings');
  const mocks = own(fields, 'mockProcedures');
  for (const key of Object.keys(isObject(mocks) ? mocks : {})) {
    const procedure = own(mocks as ObjectValue, key);
    if (key !== 'query' && key !== 'publish') throw invalidField('sources', 'mockProcedures', `${key} is neither query nor publish`);
    if (procedure !== null && typeof procedure !== 'string') throw invalidField('sources', 'mockProcedures', `${key} is no String`);
  }
}

/**
 * Checks a condition on nodes, JSON text; it is evaluated where a source is deployed to a node (integrations.md 11.9).
 * @throws source.config.invalid
 */
function checkConstraint(fields: ObjectValue): void {
  const constraint = own(fields, 'activationConstraint');
  if (typeof constraint !== 'string' || constraint.trim() === '') return;
  let parsed: Value;
  try {
    parsed = parseJson(constraint);
  } catch {
    throw apiError('cascade.source.config.invalid', 'activationConstraint', 'no JSON');
  }
  if (!isObject(parsed)) throw apiError('cascade.source.config.invalid', 'activationConstraint', 'no Object');
  const refused = nodeConditionFault(parsed);
  if (refused) throw apiError('cascade.source.config.invalid', 'activationConstraint', refused.message);
}
