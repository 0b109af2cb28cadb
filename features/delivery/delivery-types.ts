// Types in which users see the delivery of events: dead letters, persistent subscriptions, acknowledgements (resources-and-api.md 4.21,
// integrations.md 12.4). Only the service writes them.

import { type Shape, systemType, type InstanceResource } from '../../resources/catalog/index.ts';
import { deliveriesOf } from './namespace-state.ts';

function keptForDelivery(
  typeName: string,
  operations: readonly string[],
  shape: Shape,
  { name = typeName, naturalKey = [] as string[] } = {},
): InstanceResource {
  const type = systemType(typeName, shape, naturalKey);
  const reads = ['select', 'aggregate', ...operations];
  return {
    kind: 'instances',
    name,
    type,
    collection: type.collection,
    operations: new Set(reads),
    defaultSort: { _id: 1 },
    isLazy: true,
  };
}

export const DEAD_LETTERS = keptForDelivery(
  'ArsDeadLetter',
  ['delete'],
  {
    event: 'Object',
    target: 'indexed String',
    reason: 'String',
    error: 'Object',
    deliveries: 'Integer',
    firstAt: 'DateTime',
    lastAt: 'DateTime',
    truncated: 'Boolean',
  },
  { name: 'deadletters' },
);

export const SUBSCRIPTIONS: InstanceResource = {
  end: (space, name) => deliveriesOf(space).end(name),
  ...keptForDelivery(
    'ArsSubscription',
    ['delete'],
    {
      name: 'indexed String',
      topic: 'String',
      username: 'Username',
      eventFilter: 'Object',
    },
    { naturalKey: ['name'] },
  ),
};

export const ACKNOWLEDGEMENTS = keptForDelivery('ArsEventAcknowledgement', ['delete'], {
  subscriptionName: 'indexed String',
  partitionId: 'Integer',
  sequenceId: 'Integer',
  path: 'String',
  username: 'Username',
});

export const DELIVERY_RESOURCES: readonly InstanceResource[] = [DEAD_LETTERS, SUBSCRIPTIONS, ACKNOWLEDGEMENTS];
