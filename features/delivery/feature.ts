// Reliable delivery: events that are delivered until they are acknowledged.
import type { Feature } from '../../resources/catalog/index.ts';
import { acknowledgement } from './acknowledgement.ts';
import { retry } from './commands.ts';
import { DELIVERY_RESOURCES } from './delivery-types.ts';
import { deliveriesOf } from './namespace-state.ts';

export const delivery: Feature = {
  name: 'delivery',
  instances: DELIVERY_RESOURCES,
  commands: { deadletters: { retry: (space, id, _request, actor) => retry(space, id, actor) } },
  builtins: acknowledgement,
  forgetUser: (space, username) => deliveriesOf(space).endOf(username),
};
