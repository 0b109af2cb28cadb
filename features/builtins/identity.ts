// Built-ins about the identity of a run, as far as the run itself does not know it (builtins.md 19, 20).
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
  // The result is always empty, since there are no licenses; callers without the right get an error all the same.
  'Context.licenseInfo': async (space, _args, actor) => {
    if (actor.identity.system !== true) throw apiError('cascade.authorization.denied', 'select', 'licenses');
    return ok({ exp: null, iat: null });
  },
  'Utils.getHttpHeaders': (_space, _args, actor) => ok({ ...actor.headers }),
  'Utils.getNamespaceAndProfiles': async (space, _args, actor) => ok(namespaceAndProfiles(actor.identity)),
};
