import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { generatePassword, hashPassword, isOutdated, matchesPassword, requireStrong } from './passwords.ts';

const CHEAP = { N: 2 ** 10, r: 8, p: 1 };
const USUAL = { N: 2 ** 14, r: 8, p: 1 };

test('a password matches its hash and no other does', async () => {
  const hash = await hashPassword('correct horse 9 ü');
  expect(hash).toMatch(/^scrypt\$131072\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
  expect(await matchesPassword('correct horse 9 ü', hash)).toBe(true);
  expect(await matchesPassword('correct horse 9 u', hash)).toBe(false);
});

test('the same password never has the same hash', async () => {
  expect(await hashPassword('correct horse', CHEAP)).not.toBe(await hashPassword('correct horse', CHEAP));
});

test('a wrong password takes the same time for an unknown user and for a hash of a lower cost', async () => {
  const hashes = {
    unknown: null,
    present: await hashPassword('correct horse', USUAL),
    outdated: await hashPassword('correct horse', CHEAP),
  };
  const times = { unknown: Infinity, present: Infinity, outdated: Infinity };
  for (let i = 0; i < 5; i++)
    for (const name of Object.keys(times) as (keyof typeof times)[]) {
      // Of the processor: it is the same however busy the machine is.
      const begun = process.cpuUsage();
      expect(await matchesPassword('wrong', hashes[name], USUAL)).toBe(false);
      const { user, system } = process.cpuUsage(begun);
      times[name] = Math.min(times[name], user + system);
    }
  // Otherwise it would be a thousandth, and a sixteenth.
  for (const time of [times.unknown, times.outdated]) {
    expect(time / times.present).toBeGreaterThan(0.2);
    expect(time / times.present).toBeLessThan(5);
  }
});

test('a hash names its cost: one of a lower cost matches and is outdated', async () => {
  const hash = await hashPassword('correct horse', CHEAP);
  expect(hash).toMatch(/^scrypt\$1024\$8\$1\$/);
  expect(await matchesPassword('correct horse', hash, USUAL)).toBe(true);
  expect([isOutdated(hash, CHEAP), isOutdated(hash, USUAL), isOutdated(hash)]).toEqual([false, true, true]);
});

test('a password has 8 to 256 characters, whatever their bytes', () => {
  for (const good of ['12345678', '🔑'.repeat(8), 'a'.repeat(256)]) expect(() => requireStrong(good)).not.toThrow();
  for (const bad of ['', '1234567', '🔑'.repeat(7), 'a'.repeat(257)])
    expect(() => requireStrong(bad)).toThrow(expect.objectContaining({ code: 'cascade.user.password.weak' }));
});

test('generated passwords are strong and differ', () => {
  expect(() => requireStrong(generatePassword())).not.toThrow();
  expect(generatePassword()).not.toBe(generatePassword());
});

/** By thread of this process: the processor time it has used, ns, and its priority. */
function threads(): Map<string, { ns: number; nice: number }> {
  return new Map(
    readdirSync('/proc/self/task').flatMap((thread) => {
      try {
        const [ns = ''] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ');
        return [[thread, { ns: Number(ns), nice: getPriority(Number(thread)) }] as const];
      } catch {
        return []; // it has ended
      }
    }),
  );
}

// Only Linux has priorities of threads.
test.runIf(process.platform === 'linux')('passwords are hashed in threads of a low priority', async () => {
  await hashPassword('correct horse', CHEAP);
  const before = threads();
  await hashPassword('correct horse');
  const used = [...threads()].map(([thread, { ns, nice }]) => ({ ns: ns - (before.get(thread)?.ns ?? 0), nice }));
  expect(used.sort((a, b) => b.ns - a.ns)[0]?.nice).toBeGreaterThanOrEqual(10);
});
