// Under whose identity code runs, and where (builtins.md 19, 20). With built-in authentication no provider vouches for an address.
import { fail } from '../errors.ts';
import type { Declaration } from './declaration.ts';

export const identity: readonly Declaration[] = [
  {
    call: 'Context.username() => String',
    forms: 'S',
    about: 'The name of the user, or of the token, that the code runs as.',
    effect: 'suspends',
    known: ({ username }) => username,
  },
  {
    call: 'Context.preferredUsername() => String',
    forms: 'S',
    about: 'The name to show; the username where there is no other.',
    effect: 'suspends',
  },
  { call: 'Context.email() => String', forms: 'S', about: 'The e-mail address, or null.', effect: 'suspends' },
  {
    call: 'Context.isEmailVerified() => Boolean',
    forms: 'S',
    about: 'Whether the address was verified; null with built-in authentication.',
    effect: 'suspends',
    known: () => null,
  },
  {
    call: 'Context.namespace() => String',
    forms: 'S',
    about: 'The namespace that the code runs in.',
    effect: 'suspends',
    known: ({ namespace }) => namespace,
  },
  {
    call: 'Context.profiles() => List',
    forms: 'S',
    about: 'The profiles that the code has, each as namespace.profile.',
    effect: 'suspends',
  },
  {
    call: 'Context.authProvider() => String',
    forms: 'S',
    about: 'The provider of the login; internal with built-in authentication.',
    effect: 'suspends',
    known: () => 'internal',
  },
  {
    call: 'Context.isInternalAuth() => Boolean',
    forms: 'S',
    about: 'Whether authentication is the built-in one.',
    effect: 'suspends',
    known: () => true,
  },
  {
    call: 'Context.serverUri() => String',
    forms: 'S',
    about: 'The address by which clients reach the service, without a final slash.',
    effect: 'suspends',
  },
  {
    call: 'Context.buildInfo() => Object',
    forms: 'S',
    about: 'What the service was built from: {version, date, commit}.',
    effect: 'suspends',
  },
  {
    call: 'Context.licenseInfo() => Object',
    forms: 'S',
    about: 'When the license was issued and when it ends; for the system admin.',
    errors: ['cascade.authorization.denied'],
    effect: 'suspends',
  },
  {
    call: 'Context.isPartitionKeyOwner(partitionKey: any) => Boolean',
    forms: 'S',
    about: 'Whether this node has the partition; with one node always.',
    errors: ['cascade.builtin.context'],
    effect: 'suspends',
    known: ({ service }) => (service === null ? fail('cascade.builtin.context', 'Context.isPartitionKeyOwner') : true),
  },
  {
    call: 'Utils.getNamespaceAndProfiles() => Object',
    forms: 'S',
    about: 'The namespace and the profiles that the code has.',
    effect: 'suspends',
  },
  {
    call: 'Utils.getHttpHeaders() => Object',
    forms: 'S',
    about: 'The headers of the request that called the procedure, without credentials, cookies and what proxies add about the client.',
    effect: 'suspends',
  },
];
