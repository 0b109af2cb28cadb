// The resource `nodes` (resources-and-api.md 4.15, integrations.md 11.1). Registration does not contact the node; credentials are sealed
// and never shown.
import { encodeInner, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import { resolve, systemType, type DefinitionResource, type Namespace, omit } from '../../resources/catalog/index.ts';
import type { ApiReply } from '../../resources/api.ts';
import { may, requireRight } from '../../resources/access/index.ts';
import { checkFields, textField, definitionJson, deleteWithDependents, putDefinition, shown } from '../../resources/definitions/index.ts';
import { SELF_RECORD } from './conditions.ts';
import { NODES_OUTLET } from './outlet.ts';
import { EgressError } from '../../platform/egress/index.ts';
import { hasPlaceFor, optionsFault, pathInOptions, splitOptions, withSecret } from './client-options.ts';
import { opened, placeOf } from './credentials.ts';

const SEALED = 'sealed';
const CREDENTIALS: ReadonlyMap<Value, readonly string[]> = new Map([
  ['userpass', ['username', 'password']],
  ['token', ['accessToken']],
]);
const SECRET = ['password', 'accessToken'];
const DELIVERY = new Set(['bestEffort', 'reliable']);
const DEFAULT_TTL_SECONDS = 86_400;
/** The built-in node `self`; it is stored where a namespace gives it properties. */
const SELF = new Map<string, ObjectValue>([['self', SELF_RECORD]]);
const NONE = new Map<string, ObjectValue>();

export const NODES: DefinitionResource = {
  kind: 'definitions',
  name: 'nodes',
  systemType: 'ArsNode',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete', 'status']),
  onExisting: 'update',
  audited: true,
  type: systemType(
    'ArsNode',
    {
      name: 'String',
      uri: 'String',
      username: 'String',
      password: 'secret String',
      accessToken: 'secret String',
      credentialType: 'String',
      deliveryMode: 'String',
      deliveryTTL: 'Integer',
      properties: 'Object',
      clientOptions: 'Object',
    },
    ['name'],
  ),
  hidden: SEALED,
  resealed: (object, again) => {
    const sealed = own(object, SEALED);
    return isObject(sealed)
      ? { ...object, [SEALED]: eachField(sealed, (field, text) => again(text, placeOf(String(own(object, 'name')), field))) }
      : object;
  },
  builtIn: ({ catalog }) => (catalog.definitions.get('nodes', 'self') ? NONE : SELF),
  storesBuiltIn: true,
  async define(space, body, stored, { identity }) {
    const given = own(body, 'name');
    if (given === null) throw invalid('', 'it has no name');
    const name = textField('nodes', body, 'name');
    checkName('node', name);
    const fields = checkFields(NODES, omit(body, [SEALED]), 'refused');
    if (name === 'self') return { name, object: selfWith(fields, stored), apply: () => undefined };
    checkUri(name, own(fields, 'uri'));
    checkAddress(space, String(own(fields, 'uri')));
    const credentialType = own(fields, 'credentialType') ?? 'userpass';
    const needed = CREDENTIALS.get(credentialType);
    if (!needed) throw invalid(name, `credentialType is none of ${[...CREDENTIALS.keys()].join(', ')}`);
    const options = own(fields, 'clientOptions');
    const { open, secrets } = splitOptions(isObject(options) ? options : {});
    for (const field of SECRET) if (own(fields, field) !== null) secrets.set(field, own(fields, field));
    if (stored) requireUnmoved(space, { name, before: stored, after: { ...fields, clientOptions: open }, secrets }, identity);
    const sealed = await sealAll(space, name, secrets, open, stored);
    for (const field of needed) if (!(own(fields, field) || Object.hasOwn(sealed, field))) throw invalid(name, `${field} is missing`);
    const token = own(fields, 'accessToken');
    if (token !== null && !/^[!-~]+$/.test(String(token))) throw invalid(name, 'accessToken has other characters than printable ASCII');
    const deliveryMode = own(fields, 'deliveryMode');
    if (deliveryMode === null) throw invalid(name, 'deliveryMode is missing');
    if (!DELIVERY.has(String(deliveryMode)))
      throw apiError('cascade.node.delivery.mode', name, `deliveryMode is none of ${[...DELIVERY].join(', ')}`);
    const properties = propertiesIn(fields, stored);
    if (properties === null) throw invalid(name, 'properties are missing');
    const deliveryTTL = own(fields, 'deliveryTTL') ?? DEFAULT_TTL_SECONDS;
    if (!isInteger(deliveryTTL) || deliveryTTL <= 0) throw invalid(name, 'deliveryTTL is no Integer above 0');
    const object: ObjectValue = {
      ...omit(fields, SECRET),
      credentialType,
      deliveryTTL,
      properties,
      ars_properties: properties,
      clientOptions: open,
      [SEALED]: sealed,
    };
    return { name, object, apply: () => undefined };
  },
  show: (_space, stored) => omit(stored, [SEALED]),
  onCollection,
  async remove(_space, stored) {
    if (own(stored, 'name') === 'self') throw apiError('cascade.authorization.denied', 'delete', 'nodes');
    return { apply: () => undefined };
  },
};

/** Checks and merges a change of `self`. @throws resource.key.immutable for a change of more than its properties */
function selfWith(fields: ObjectValue, stored: ObjectValue | null): ObjectValue {
  const properties = propertiesIn(fields, stored) ?? {};
  const changes = omit(fields, ['properties', 'ars_properties']);
  for (const [field, value] of Object.entries(changes))
    if (value !== null && encodeInner(value) !== encodeInner(own(SELF_RECORD, field)))
      throw apiError('cascade.resource.key.immutable', 'nodes', field);
  return { name: 'self', deliveryMode: own(SELF_RECORD, 'deliveryMode'), properties, ars_properties: properties };
}

const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);
const invalid = (node: string, reason: string) => apiError('cascade.node.invalid', node, reason);

/** @throws node.invalid, node.uri.invalid */
function checkUri(node: string, uri: Value): void {
  if (uri === null || uri === '') throw invalid(node, 'uri is missing');
  const parsed = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : null;
  if (!parsed || !/^(?:https?|wss?):$/.test(parsed.protocol))
    throw apiError('cascade.node.uri.invalid', node, 'uri is no http, https, ws or wss address');
  if (parsed.username !== '' || parsed.password !== '')
    throw apiError('cascade.node.uri.invalid', node, 'credentials have fields of their own');
}

/** Refuses a literal address that may not be reached; host names are checked when they are connected to. @throws source.address.refused */
function checkAddress(space: Namespace, uri: string): void {
  const { hostname } = new URL(uri);
  try {
    space.states.get(NODES_OUTLET).checkLiteral(hostname);
  } catch (error) {
    if (error instanceof EgressError) throw apiError('cascade.source.address.refused', hostname);
    throw error;
  }
}

interface Change {
  readonly name: string;
  readonly before: ObjectValue;
  readonly after: ObjectValue;
  /** Those that the change gives or removes; others are kept. */
  readonly secrets: ReadonlyMap<string, Value>;
}

/**
 * Stored credentials go where the node is (integrations.md 1.3), so who may not read secrets gives them again where that changes.
 * @throws node.invalid
 */
function requireUnmoved(space: Namespace, { name, before, after, secrets }: Change, editor: Identity): void {
  const moved = ['uri', 'clientOptions'].find((field) => encodeInner(own(before, field) ?? {}) !== encodeInner(own(after, field) ?? {}));
  const stored = own(before, SEALED);
  const kept = Object.keys(isObject(stored) ? stored : {}).find((path) => !secrets.has(path));
  if (moved === undefined || kept === undefined || may(space, resolve(space, 'secrets', false), 'select', editor)) return;
  throw invalid(name, `${kept} must be given again where ${moved} changes, by who has no right to secrets`);
}

/** The value of a property with two names: the changed one counts. */
function propertiesIn(fields: ObjectValue, stored: ObjectValue | null): Value {
  const [named, system] = [own(fields, 'properties'), own(fields, 'ars_properties')];
  if (named === null || system === null) return named ?? system;
  const before = stored && own(stored, 'properties');
  return before !== null && encodeInner(named) === encodeInner(before) ? system : named;
}

function eachField(sealed: ObjectValue, change: (field: string, text: string) => string): ObjectValue {
  const after: ObjectValue = {};
  for (const field of Object.keys(sealed)) setOwn(after, field, change(field, String(getOwn(sealed, field))));
  return after;
}

/**
 * Sealed secrets as base64 texts by field; absent fields keep their stored secret, null removes one.
 * @param options the `clientOptions` without secrets
 * @throws node.invalid for options that no connection could be made with
 */
async function sealAll(
  space: Namespace,
  node: string,
  secrets: ReadonlyMap<string, Value>,
  options: ObjectValue,
  stored: ObjectValue | null,
): Promise<ObjectValue> {
  const before = stored && own(stored, SEALED);
  const sealed: ObjectValue = {};
  let whole = options;
  for (const [field, text] of Object.entries(isObject(before ?? null) ? (before as ObjectValue) : {})) {
    const path = pathInOptions(field);
    if (secrets.has(field) || (path && !hasPlaceFor(options, path))) continue;
    setOwn(sealed, field, text);
    if (path) whole = withSecret(whole, path, await opened(space, node, field, String(text)));
  }
  for (const [field, secret] of secrets) {
    if (secret === null) continue;
    const path = pathInOptions(field);
    if (path) whole = withSecret(whole, path, secret);
    if (!space.installation.keys.areAvailable) throw invalid(node, `there is no master key to keep ${field} with`);
    const cipher = await space.installation.keys.ensureCipher(space.name);
    setOwn(sealed, field, Buffer.from(cipher.seal(encodeInner(secret), placeOf(node, field))).toString('base64'));
  }
  const wrong = optionsFault(whole);
  if (wrong !== null) throw invalid(node, wrong);
  return sealed;
}

/** Handles `{op: 'updateNode', object}` and `{op: 'deleteNode', targetName}` on the collection (2.13). Null: the body is a node. */
async function onCollection(space: Namespace, body: ObjectValue, actor: Actor): Promise<ApiReply | null> {
  const op = own(body, 'op');
  if (op === 'updateNode') {
    requireRight(space, NODES, 'upsert', actor.identity);
    return { status: 200, body: definitionJson(shown(space, NODES, await putDefinition(space, NODES, own(body, 'object'), actor, true))) };
  }
  if (op === 'deleteNode') {
    requireRight(space, NODES, 'delete', actor.identity);
    await deleteWithDependents(space, NODES, textField('nodes', body, 'targetName'), actor);
    return { status: 204 };
  }
  if (op !== null) throw apiError('cascade.operation.unknown', op);
  return null;
}
