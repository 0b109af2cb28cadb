import { expect, test } from 'vitest';
import { generatePassword, hashPassword, matchesPassword, requireStrong } from './passwords.ts';

test('a password matches its hash and no other does', async () => {
  const hash = await hashPassword('correct horse 9 ü');
  expect(hash).toMatch(/^scrypt\$32768\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
  expect(await matchesPassword('correct horse 9 ü', hash)).toBe(true);
  expect(await matchesPassword('correct horse 9 u', hash)).toBe(false);
});

test('the same password never has the same hash', async () => {
  expect(await hashPassword('correct horse')).not.toBe(await hashPassword('correct horse'));
});

test('no password matches an unknown user, at the cost of a known one', async () => {
  const hash = await hashPassword('correct horse');
  let [unknown, known] = [Infinity, Infinity];
  const time = async (stored: string | null): Promise<number> => {
    const begun = performance.now();
    expect(await matchesPassword('wrong', stored)).toBe(false);
    return performance.now() - begun;
  };
  for (let i = 0; i < 5; i++) {
    unknown = Math.min(unknown, await time(null));
    known = Math.min(known, await time(hash));
  }
  // Without the hash it would be a thousandth.
  expect(unknown / known).toBeGreaterThan(0.2);
  expect(unknown / known).toBeLessThan(5);
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
