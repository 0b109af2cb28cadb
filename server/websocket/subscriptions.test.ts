import { expect, test } from 'vitest';
import { type CascadeError, fault } from '../../model/errors/faults.ts';
import type { Identity } from '../../resources/api.ts';
import { Subscriptions } from './subscriptions.ts';

const ANN: Identity = { username: 'ann', namespace: 'main', profiles: [] };

test.each([
  ['what it was about has gone meanwhile', fault('cascade.resource.type.not.found', 'Pump'), 'cascade.event.path.gone', 410],
  ['it may not be had any more', fault('cascade.authorization.denied', 'select', 'Pump'), 'cascade.authorization.denied', 403],
])('a subscription that is found out to have ended says why: %s', async (_why, found, code, status) => {
  const told: CascadeError[] = [];
  let isFirst = true;
  const subscriptions = new Subscriptions({
    engine: {
      subscribe: async () => {
        if (!isFirst) throw found;
        isFirst = false;
        return { close: () => undefined };
      },
    },
    send: () => undefined,
    sendError: (error: CascadeError) => void told.push(error),
    failed: () => undefined,
    hasRoom: async () => undefined,
  } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
  const message = { op: 'subscribe', resourceName: 'events', resourceId: '/types/Pump/insert', parameters: { requestId: 'a' } };
  await subscriptions.subscribe(message as never, ANN);
  await subscriptions.recheck(async () => ANN);
  expect(told).toMatchObject([{ code, status }]);
  expect(subscriptions.size).toBe(0);
});
