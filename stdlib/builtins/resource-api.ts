// The operations of the resource API for programs (builtins.md 21). What a message may hold only the host can say.
import type { Declaration } from './declaration.ts';

export const resourceApi: readonly Declaration[] = [
  {
    call: 'ResourceAPI.executeOp(message: Object) => List',
    forms: 'S',
    about: 'Carries out an operation upon a resource; the results as a result list.',
    errors: ['cascade.operation.unknown', 'cascade.namespace.not.authorized', 'cascade.request.parameter.invalid', '*'],
    effect: 'suspends',
  },
  {
    call: 'ResourceAPI.executeOpAsSequence(message: Object) => Sequence',
    forms: 'S',
    about: 'The same with the results as a Sequence.',
    errors: ['cascade.operation.unknown', 'cascade.namespace.not.authorized', 'cascade.request.parameter.invalid', '*'],
    effect: 'suspends',
    pages: true,
  },
  {
    call: 'ResourceAPI.patch(resource: String, resourceId: String, patchCmds: List) => Object',
    forms: 'S',
    about: 'Changes an instance by a JSON Patch and gives it as it is then.',
    errors: ['*'],
    effect: 'suspends',
  },
];
