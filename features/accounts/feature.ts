// Users, tokens, namespaces and organizations (resources-and-api.md 4.9 to 4.12), which the installation stores.
import type { InstallationResource, Feature } from '../../resources/catalog/index.ts';
import { deleteAccounts, matching, putAccounts, updateAccounts } from './changes.ts';
import { ACCOUNTS, carryOutAccount, operationsOf } from './account-requests.ts';
import type { AccountResource } from './account-resource.ts';
import { INVITATIONS, redeemInvitation } from './invitations.ts';

const installed = (account: AccountResource): InstallationResource => ({
  name: account.name,
  type: account.type,
  operations: operationsOf(account),
  commands: Object.keys(account.commands ?? {}),
  hasEvents: account.name !== 'namespaces' && account.name !== 'organizations', // a namespace must not learn of others
  carryOut: (space, request, actor) => carryOutAccount(space, account, request, actor),
  matching: (space, where, caller) => matching(space, account, where, caller),
  put: (space, values, upserts, actor) => putAccounts(space, account, values, upserts, actor),
  update: (space, values, where, actor, onError) => updateAccounts(space, account, values, where, actor, onError),
  remove: (space, where, actor) => deleteAccounts(space, account, where, actor),
});

export const accounts: Feature = {
  name: 'accounts',
  installation: ACCOUNTS.map(installed),
  requests: { [INVITATIONS]: redeemInvitation },
};
