// The acknowledgement of an event by a rule (builtins.md 22, integrations.md 12.3).
import { isRedelivered } from '../../runtime/transactions/index.ts';
import type { HostBuiltins } from '../../resources/catalog/index.ts';
import { deliveriesOf } from '../delivery/namespace-state.ts';

export const acknowledgement: HostBuiltins = {
  'Event.ack': async (space, _args, actor) => {
    await deliveriesOf(space).acknowledgeRun(actor);
    return { ok: 'null' };
  },
  'Event.isRedelivered': (_space, _args, { event }) => ({
    ok: String(event !== undefined && isRedelivered(event.event)),
  }),
};
