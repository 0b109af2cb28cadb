// What a namespace keeps about its programs is bounded in bytes (resources-and-api.md 4.18, 9.1).
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson } from '../model/values/index.ts';
import { VirtualClock } from '../platform/clock/index.ts';
import type { Identity } from '../resources/api.ts';
import { openTestEngine, type TestEngine } from './testing/engine.ts';

const mark = randomBytes(4).toString('hex');
const organization = `kept_${mark}`;
const clock = new VirtualClock(Date.UTC(2026, 5, 1));
const SYSTEM: Identity = { username: `system${mark}`, namespace: `Rulers_${mark}`, profiles: ['admin', 'admin__system'], system: true };
let t: TestEngine;
let boss: Identity;

beforeAll(async () => {
  t = await openTestEngine({ clock });
  const admin = { username: `boss.${mark}`, profiles: ['admin', 'user__system'], password: 'correct horse' };
  await t.engine.identity.createNamespace({ namespace: `Kept_${mark}`, organization: { name: organization }, admin, createdBy: 'test' });
  boss = (await t.engine.identity.login(admin.username, admin.password, '10.0.0.1')).identity;
});
afterAll(() => t[Symbol.asyncDispose]());

async function ask(op: string, resourceName: string, more: object = {}, identity = boss): Promise<string> {
  return (await t.engine.execute({ identity, op, resourceName, custom: null, parameters: {}, ...more })).body ?? '';
}
const messages = async (): Promise<{ message: string; level: string; invocationId: string }[]> => JSON.parse(await ask('select', 'logs'));
const isNotice = ({ invocationId }: { invocationId: string }): boolean => invocationId === 'retention';

test('messages beyond the quota of bytes are dropped, the oldest first, and the logs say so', async () => {
  const text = 'PROCEDURE talks() for (i in range(0, 300)) { log.info("message " + i + " ".repeat(500)) }\nreturn 1';
  await ask('insert', 'procedures', { text });
  await ask('execute', 'procedures', { resourceId: 'talks', object: [] });
  expect(await messages()).toHaveLength(300);
  const quota = parseJson('{"limits":{"diagnosticsBytes":80000}}');
  await ask('update', 'organizations', { resourceId: organization, object: { quota } }, SYSTEM);
  await clock.advanceTo(clock.now() + 61_000);
  await expect.poll(async () => (await messages()).filter(isNotice).length, { timeout: 20_000, interval: 200 }).toBe(1);
  const left = (await messages()).filter((one) => !isNotice(one));
  expect(left.length).toBeGreaterThan(50);
  expect(left.length).toBeLessThan(110);
  expect(left.map(({ message }) => Number(message.split(' ')[1]))).toContain(299);
  const [notice] = (await messages()).filter(isNotice);
  expect(notice).toMatchObject({ level: 'WARN', message: expect.stringContaining(`${300 - left.length} messages`) as string });
});

test('an expired debug config that is prolonged while others are removed stays', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `dbg${i}`);
  const expiresAt = new Date(clock.now() + 60_000).toISOString();
  for (const name of names) await ask('insert', 'debugconfigs', { object: { name, type: 'log', value: 'DEBUG', expiresAt } });
  const left = async (): Promise<string[]> =>
    (JSON.parse(await ask('select', 'debugconfigs')) as { name: string }[]).map(({ name }) => name);
  await clock.advanceTo(clock.now() + 60_001);
  await expect.poll(left, { interval: 1 }).not.toContain('dbg0');
  await ask('update', 'debugconfigs', { resourceId: 'dbg59', object: { expiresAt: new Date(clock.now() + 3_600_000).toISOString() } });
  await expect.poll(async () => (await left()).filter((name) => name !== 'dbg59')).toEqual([]);
  expect(await left()).toEqual(['dbg59']);
});
