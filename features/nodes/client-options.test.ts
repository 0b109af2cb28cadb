import { expect, test } from 'vitest';
import { hasPlaceFor, optionsFault, pathInOptions, splitOptions, withSecret } from './client-options.ts';

const OPTIONS = {
  trustAll: true,
  pemKeyCertOptions: { certValues: ['c'], keyValues: ['k'] },
  keyStoreOptions: { value: 'v', password: 'p' },
};

test('keys and passwords are taken out of the options, and come back to their places', () => {
  const { open, secrets } = splitOptions(OPTIONS);
  expect(open).toEqual({ trustAll: true, pemKeyCertOptions: { certValues: ['c'] }, keyStoreOptions: { value: 'v' } });
  expect([...secrets.keys()]).toEqual(['clientOptions.pemKeyCertOptions.keyValues', 'clientOptions.keyStoreOptions.password']);
  const whole = [...secrets].reduce((options, [field, secret]) => withSecret(options, pathInOptions(field) ?? [], secret), open);
  expect(whole).toEqual(OPTIONS);
});

test('a secret whose options are gone has no place, and other sealed fields are none of the options', () => {
  expect(hasPlaceFor({ keyStoreOptions: { value: 'v' } }, ['keyStoreOptions', 'password'])).toBe(true);
  expect(hasPlaceFor({}, ['keyStoreOptions', 'password'])).toBe(false);
  expect(pathInOptions('password')).toBeNull();
});

test('options that no connection could be made with are told', () => {
  expect(optionsFault({ trustAll: true, connectTimeout: 5 })).toBeNull();
  expect(optionsFault({ trustAll: 1 })).toBe('clientOptions.trustAll: no Boolean');
  expect(optionsFault({ keyStoreOptions: { path: '/etc/key' } })).toBe('clientOptions.keyStoreOptions: path: no files of the server');
});
