// Under whose identity code runs, as far as the run itself does not know it (builtins.md 19, 20).
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import { namespaceAndProfiles } from '../../identity/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace, HostBuiltins } from '../../resources/catalog/index.ts';

const ok = (value: Value): Answer => ({ ok: encodeInner(value) });

async function detailsOf(space: Namespace, username: string) {
  return (await space.installation.directory.detailsOf(username)) ?? {};
}

export const identity: HostBuiltins = {
  'Context.profiles': async (space, _args, actor) => ok(namespaceAndProfiles(actor.identity).profiles),
  'Context.preferredUsername': async (space, _args, { identity: { username } }) =>
    ok((await detailsOf(space, username)).preferredUsername ?? username),
  'Context.email': async (space, _args, { identity: { username } }) => ok((await detailsOf(space, username)).email ?? null),
  'Context.serverUri': (space) => ok(space.installation.about.serverUri()),
  'Context.buildInfo': (space) => ok({ ...space.installation.about.build }),
  // There are no licenses; but who may not ask about them is not told so.
  'Context.licenseInfo': async (space, _args, actor) => {
    if (actor.identity.system !== true) throw apiError('cascade.authorization.denied', 'select', 'licenses');
    return ok({ exp: null, iat: null });
  },
  'Utils.getHttpHeaders': (_space, _args, actor) => ok({ ...actor.headers }),
  'Utils.getNamespaceAndProfiles': async (space, _args, actor) => ok(namespaceAndProfiles(actor.identity)),
};
