// Users, tokens and namespaces (resources-and-api.md 4.9, 4.11, 4.12): the installation keeps them.
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
  hasEvents: account.name !== 'namespaces' && account.name !== 'organizations', // a namespace hears of no other
  carryOut: (space, request, actor) => carryOutAccount(space, account, request, actor),
  matching: (space, where, caller) => matching(space, account, where, caller),
  put: (space, values, upserts, actor) => putAccounts(space, account, values, upserts, actor),
  update: (space, values, where, actor) => updateAccounts(space, account, values, where, actor),
  remove: (space, where, actor) => deleteAccounts(space, account, where, actor),
});

export const accounts: Feature = {
  name: 'accounts',
  installation: ACCOUNTS.map(installed),
  requests: { [INVITATIONS]: redeemInvitation },
};
