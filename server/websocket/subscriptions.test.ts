import { expect, test } from 'vitest';
import { type CascadeError, apiError } from '../../model/errors/api-errors.ts';
import type { Identity } from '../../resources/api.ts';
import { Subscriptions } from './subscriptions.ts';

const ANN: Identity = { username: 'ann', namespace: 'main', profiles: [] };

test.each([
  [
    'what it was about has gone meanwhile',
    apiError('cascade.resource.type.not.found', 'Pump'),
    [{ code: 'cascade.event.path.gone', status: 410 }],
    [],
  ],
  [
    'its right has been withdrawn',
    apiError('cascade.authorization.denied', 'select', 'Pump'),
    [],
    [{ status: 100, body: { op: 'unsubscribe', path: '/types/Pump/insert', namespace: 'main' } }],
  ],
])('a subscription that is found out to have ended says why: %s', async (_why, found, errors, messages) => {
  const reported: CascadeError[] = [];
  const sent: string[] = [];
  let isFirst = true;
  const subscriptions = new Subscriptions({
    engine: {
      subscribe: async () => {
        if (!isFirst) throw found;
        isFirst = false;
        return { close: () => undefined };
      },
    },
    send: (text: string) => void sent.push(text),
    sendError: (error: CascadeError) => void reported.push(error),
    failed: () => undefined,
    hasRoom: async () => undefined,
  } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
  const message = { op: 'subscribe', resourceName: 'events', resourceId: '/types/Pump/insert', parameters: { requestId: 'a' } };
  await subscriptions.subscribe(message as never, ANN);
  await subscriptions.recheck(async () => ANN);
  expect(reported).toMatchObject(errors);
  expect(sent.map((text) => JSON.parse(text))).toMatchObject(messages);
  expect(subscriptions.size).toBe(0);
});
