import { expect, test } from 'vitest';
import { isSecret } from './path.ts';
import { typeOf } from './testing.ts';

test('an encrypted property is secret, one of the service is where it says so', () => {
  const declared = typeOf('T', { plain: 'String', hidden: 'String encrypted' }).properties;
  const plain = declared.get('plain')!;
  expect([isSecret(plain), isSecret(declared.get('hidden')!)]).toEqual([false, true]);
  for (const [secret, is] of [
    [true, true],
    [false, false],
    ['yes', false],
  ] as const)
    expect(isSecret({ ...plain, other: { secret } }), String(secret)).toBe(is);
  expect(isSecret({ ...plain, hidesMember: ([name]) => name === 'token' }, ['token'])).toBe(true);
  expect(isSecret({ ...plain, hidesMember: ([name]) => name === 'token' }, ['url'])).toBe(false);
});
