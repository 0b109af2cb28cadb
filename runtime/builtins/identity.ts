// Under whose identity code runs, as far as the run itself does not know it (builtins.md 19, 20).
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../actor.ts';
import type { Identity } from '../api.ts';
import type { Answer } from '../commit/index.ts';
import { fault } from '../faults.ts';
import type { Namespace } from '../resources/types.ts';
import type { HostBuiltins } from './types.ts';

const ok = (value: Value): Answer => ({ ok: encodeInner(value) });

/** A rule runs as its last editor, with the rights that this user has now (resources-and-api.md 7.6). */
async function current(space: Namespace, { identity }: Actor): Promise<Identity> {
  return identity.profiles.length > 0 ? identity : ((await space.rightsOf(identity.username, space.name)) ?? identity);
}

const profilesOf = ({ namespace, profiles }: Identity): string[] => profiles.map((profile) => `${namespace}.${profile}`);

export const namespaceAndProfiles = (identity: Identity): Value => ({ namespace: identity.namespace, profiles: profilesOf(identity) });

export const identity: HostBuiltins = {
  'Context.profiles': async (space, _args, actor) => ok(profilesOf(await current(space, actor))),
  // There are no licenses; but who may not ask about them is not told so.
  'Context.licenseInfo': async (space, _args, actor) => {
    if ((await current(space, actor)).system !== true) throw fault('cascade.authorization.denied', 'select', 'licenses');
    return ok({ exp: null, iat: null });
  },
  'Utils.getHttpHeaders': (_space, _args, actor) => ok({ ...actor.headers }),
  'Utils.getNamespaceAndProfiles': async (space, _args, actor) => ok(namespaceAndProfiles(await current(space, actor))),
};
