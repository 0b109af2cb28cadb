// Messages that wait for their turn, in a namespace whose quota is not known yet.
import { expect, test } from 'vitest';
import type { Namespace } from '../../resources/catalog/index.ts';
import { Inbox } from './inbound.ts';

test('no more is read while many messages wait, or many bytes of them', async () => {
  const MIB = 1024 * 1024;
  for (const { bytes, fit } of [
    { bytes: 1, fit: 1_000 },
    { bytes: MIB, fit: 16 },
  ]) {
    const quota = Promise.withResolvers<null>();
    const inbox = new Inbox({ name: 'main', installation: { quotas: { of: () => quota.promise } } } as unknown as Namespace, {
      name: 'feed',
    });
    const deliver = (): Promise<unknown> =>
      inbox.deliver({ payload: new Uint8Array(bytes), contentType: 'text/plain' }).catch(() => 'failed');
    const delivered = Array.from({ length: fit - 1 }, deliver);
    await inbox.room();
    delivered.push(deliver());
    let hasRoom = false;
    const room = inbox.room().then(() => (hasRoom = true));
    for (let i = 0; i < 10; i++) await Promise.resolve();
    expect(hasRoom).toBe(false);
    quota.reject(new Error('the store is gone'));
    expect(new Set(await Promise.all(delivered))).toEqual(new Set(['failed']));
    await room;
  }
});
