// The resource tokens (resources-and-api.md 4.12): long-lived access tokens. Only the answer to the INSERT contains the token itself.

import { eq } from '../../stdlib/operators/index.ts';
import { DateTime, getOwn, isInteger, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { TOKEN_TYPES, type TokenRecord, type TokenType } from '../../identity/index.ts';
import { TOKEN_SHAPE, type Namespace } from '../../resources/catalog/index.ts';
import { isAdmin, mayInvoke, requireAdmin } from '../../resources/access/index.ts';
import type { AccountResource } from './account-resource.ts';
import { profilesIn } from './rights.ts';
import { propertiesIn, systemPropertiesOf } from './shown.ts';
import { requireKnown, requiredText } from '../../resources/requests/index.ts';

const KNOWN = ['name', 'profiles', 'singleNamespace', 'tokenTimeout', 'tokenType', 'username', 'lastUsedAt', 'ars_properties'];

/** The greatest time of a Date. */
const LAST_TIME_MS = 8.64e15;

export const TOKENS: AccountResource = {
  name: 'tokens',
  type: TOKEN_SHAPE,
  needs: {
    insert: (space, caller) => mayInvoke(space, 'createToken', caller),
    update: (space, caller) => mayInvoke(space, 'updateToken', caller),
  },
  async list(space, caller) {
    const tokens = await space.installation.directory.tokens(space.name);
    return tokens.filter(({ username }) => isAdmin(caller) || username === caller.username).map((token) => shown(space, token));
  },
  /** A name comes before an `_id` (resources-and-api.md 1.2). Names are unique per creator: of several the caller's own is meant. */
  async at(space, all, id, caller) {
    const named = all.filter((token) => getOwn(token, 'name') === id);
    const own = named.find((token) => getOwn(token, 'username') === caller.username);
    if (!own && named.length > 1) throw apiError('cascade.resource.ambiguous', 'tokens', id, named.length);
    if (named[0]) return own ?? named[0];
    const withText = await space.installation.directory.tokenWith(id, space.name);
    return all.find((token) => getOwn(token, '_id') === (withText ?? id));
  },
  async insert(space, body, caller, along) {
    if (!mayInvoke(space, 'createToken', caller)) throw apiError('cascade.authorization.denied', 'insert', 'tokens');
    requireGiven(body);
    requireKept(body, caller);
    const name = nameIn(body);
    const given = getOwn(body, 'profiles');
    const isPersonal = given === null || (Array.isArray(given) && given.length === 0);
    // Who acts under profiles other than the user's cannot create a token with all of the user's rights.
    if (isPersonal && (caller.restricted || caller.lent)) throw apiError('cascade.profile.escalation', caller.username);
    const profiles = isPersonal ? undefined : await profilesIn(space, withSystem(given), caller, space.name);
    const singleNamespace = caller.bound === true || getOwn(body, 'singleNamespace') === true;
    const seconds = getOwn(body, 'tokenTimeout');
    if (seconds !== null && (!isInteger(seconds) || seconds <= 0))
      throw apiError('cascade.resource.property.invalid', 'tokens', 'tokenTimeout', 'no Integer above 0');
    if (seconds !== null && Date.now() + Number(seconds) * 1000 > LAST_TIME_MS)
      throw apiError('cascade.resource.property.invalid', 'tokens', 'tokenTimeout', 'it ends after the last time that there is');
    const expiresAt = seconds === null ? undefined : new Date(Date.now() + Number(seconds) * 1000);
    const token = {
      name,
      username: caller.username,
      namespace: space.name,
      ...(profiles && { profiles }),
      ...(singleNamespace && !profiles && { singleNamespace: true as const }),
      ...(expiresAt && { expiresAt }),
      tokenType: tokenTypeIn(body),
      properties: propertiesIn('tokens', body) ?? null,
    };
    const accessToken = await space.installation.identity.createAccessToken(token, along);
    const id = await space.installation.directory.tokenWith(accessToken, space.name);
    const stored = (await space.installation.directory.tokens(space.name)).find(({ _id }) => _id === id);
    if (!stored) throw apiError('cascade.resource.not.found', '/tokens');
    return { ...shown(space, stored), accessToken };
  },
  unpatched: true,
  async update(space, token, changes, caller, { version, along }) {
    if (!mayInvoke(space, 'updateToken', caller)) throw apiError('cascade.authorization.denied', 'update', 'tokens');
    requireGiven(changes);
    const other = Object.keys(changes).find(
      (key) => KNOWN.includes(key) && key !== 'name' && !eq(getOwn(changes, key), getOwn(token, key)),
    );
    if (other !== undefined) throw apiError('cascade.resource.key.immutable', 'tokens', other);
    const name = Object.hasOwn(changes, 'name') ? nameIn(changes) : null;
    const how = { by: caller.username, version, along };
    if (name !== null) await space.installation.directory.renameToken(String(getOwn(token, '_id')), name, how);
  },
  async remove(space, token, caller, { version, along }) {
    const username = String(getOwn(token, 'username'));
    if (username !== caller.username) requireAdmin(caller, 'delete', 'tokens');
    await space.installation.identity.deleteAccessToken(String(getOwn(token, '_id')), username, { version, along });
  },
};

/** @throws cascade.token.property.generated, cascade.resource.property.unknown */
function requireGiven(body: ObjectValue): void {
  for (const name of ['accessToken', 'expiresAt'])
    if (Object.hasOwn(body, name)) throw apiError('cascade.token.property.generated', 'tokens', name, 'the service makes it');
  requireKnown('tokens', body, KNOWN);
}

/** An address can name a token by it, so it is not empty. @throws cascade.resource.property.required, .invalid */
function nameIn(body: ObjectValue): string {
  const name = requiredText('tokens', body, 'name');
  if (name === '') throw apiError('cascade.resource.property.invalid', 'tokens', 'name', 'empty');
  return name;
}

/** Adds the system's profile: a missing one is `user__system` (resources-and-api.md 7.2). */
const withSystem = (profiles: Value): Value =>
  Array.isArray(profiles) && profiles.length === 1 && !/^system\.|__system$/.test(String(profiles[0]))
    ? [...profiles, 'user__system']
    : profiles;

/** @throws cascade.resource.property.invalid */
function tokenTypeIn(body: ObjectValue): TokenType {
  const given = getOwn(body, 'tokenType') ?? 'permanent';
  const type = TOKEN_TYPES.find((one) => one === given);
  if (type === undefined) throw apiError('cascade.resource.property.invalid', 'tokens', 'tokenType', `one of ${TOKEN_TYPES.join(', ')}`);
  return type;
}

/** The owner of a token cannot be given otherwise. @throws cascade.resource.property.invalid */
function requireKept(body: ObjectValue, caller: Identity): void {
  const single = getOwn(body, 'singleNamespace');
  if (single !== null && typeof single !== 'boolean')
    throw apiError('cascade.resource.property.invalid', 'tokens', 'singleNamespace', 'no Boolean');
  const username = getOwn(body, 'username');
  if (username !== null && String(username).toLowerCase() !== caller.username)
    throw apiError('cascade.resource.property.invalid', 'tokens', 'username', `only ${caller.username} is possible`);
  tokenTypeIn(body);
}

function shown(space: Namespace, token: TokenRecord): ObjectValue {
  const { _id, name, username, profiles, singleNamespace, expiresAt, tokenType, lastUsedAt } = token;
  return {
    _id,
    name,
    profiles,
    singleNamespace,
    username,
    expiresAt: expiresAt && new DateTime(expiresAt.getTime()),
    tokenType,
    ...(lastUsedAt && { lastUsedAt: new DateTime(lastUsedAt.getTime()) }),
    ...systemPropertiesOf(space.name, token),
  };
}
