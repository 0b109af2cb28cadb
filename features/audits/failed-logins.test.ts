// spec: resources-and-api.md 8.3
import { expect, test, vi } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine } from '../../engine/testing/engine.ts';
import { SecurityLog } from '../../identity/index.ts';

test('a failed login that was answered just before the service stops is audited', async () => {
  const settled = vi.spyOn(SecurityLog.prototype, 'settled'); // a quick audit would be stored in time without it
  await using database = await openOwnDatabase();
  const mongoUri = database.uri;
  let namespace: string;
  let username: string;
  {
    await using t = await openTestEngine({ mongoUri });
    ({ namespace } = t.identity);
    username = `clumsy.${namespace}`;
    await t.type('Any', { n: { type: 'Integer' } }); // the namespace is open
    await t.engine.identity.createUser({ username, password: 'correct horse', namespace, createdBy: 'tests' });
    const failed = t.engine.identity.login(username, 'battery staple', '10.0.0.1');
    await expect(failed).rejects.toMatchObject({ code: 'io.service.security.authentication.failed' });
  }
  expect(settled).toHaveBeenCalledOnce();
  settled.mockRestore();
  await using t = await openTestEngine({ mongoUri, namespace });
  expect(await t.rows('audits', { op: 'authenticate', entity: `/users/${username}` })).toHaveLength(1);
});
