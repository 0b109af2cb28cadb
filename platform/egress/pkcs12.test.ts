// What stores of PKCS#12 hold, and that none keeps this process for longer than it may.
import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';
import { expect, test } from 'vitest';
import { readStore, storeFault } from './pkcs12.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

/** A store whose password is `hush`. @param rounds how often it says that its keys are stretched for the check of the password */
function newStore(rounds?: number): string {
  const key = forge.pki.privateKeyFromPem(privateKey);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  certificate.serialNumber = '01';
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  certificate.sign(key, forge.md.sha256.create());
  const store = forge.pkcs12.toPkcs12Asn1(key, [certificate], 'hush', { algorithm: '3des', friendlyName: 'one' });
  const [, , check] = store.value as forge.asn1.Asn1[];
  const { Class, Type } = forge.asn1;
  if (rounds !== undefined)
    (check!.value as forge.asn1.Asn1[])[2] = forge.asn1.create(
      Class.UNIVERSAL,
      Type.INTEGER,
      false,
      forge.asn1.integerToDer(rounds).getBytes(),
    );
  return forge.util.encode64(forge.asn1.toDer(store).getBytes());
}

test('a store is read with its password', async () => {
  const { keys, certificates } = await readStore(newStore(), 'hush');
  expect(keys).toMatchObject([{ names: ['one'], pem: expect.stringContaining('-----BEGIN PRIVATE KEY-----') }]);
  expect(certificates).toMatchObject([{ id: keys[0]?.id, pem: expect.stringContaining('-----BEGIN CERTIFICATE-----') }]);
  await expect(readStore(newStore(), 'other')).rejects.toThrow('its password is wrong');
});

test('a store that takes too long is given up, and this process goes on meanwhile', async () => {
  let beats = 0;
  const beat = setInterval(() => beats++, 5);
  await expect(readStore(newStore(2 ** 31 - 1), 'hush', 500)).rejects.toThrow('cannot be opened within 500 ms');
  clearInterval(beat);
  expect(beats).toBeGreaterThan(3);
});

/** Made by OpenSSL 3: `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x`, then `pkcs12 -export -passout pass:hush`. */
const OF_CURVES = [
  'MIID/AIBAzCCA7IGCSqGSIb3DQEHAaCCA6MEggOfMIIDmzCCAlIGCSqGSIb3DQEHBqCCAkMwggI/AgEAMIICOAYJKoZIhvcNAQcBMFcGCSqGSIb3DQEFDTBK',
  'MCkGCSqGSIb3DQEFDDAcBAixO37NkxnKYAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEENqUmUxcxVNls7I99gAElH2AggHQk8efZRmztXvRMccE',
  'Cw8EkOBdU/ZyMgfTRIaSBbzKyHyf9lTHS8gwmB5UsitT+Zkgx7Uwd0KPOUJR2xozM0n6mVhIzAMqZJUHzRhbbuHb50j/5K2B7NcnGTdq9kldZoHmK8g2P82u',
  'LENN2un17JXujYasHugXKGHxfPL4phL2imq+vgPlzI7lfZr+bDuSPhUIbtBpQTFNTKsscgzoxyJ5oiW3QJRWNvHvGbtNSi96uHUAyMy+azsMJxVtixcG2yG3',
  'wiKDnBIhTl+B3nYVQm2jrd5oFfr3UC/fDOC2l9wO1uvtydgeyp1DHAvHc2zxaHGDwISHYEQ5Lx36jf+57PoPGg1f51WAYl5wHTyRqW+cuTyOSoH/U2pGERWu',
  'pCEMaqRX6bfqkLc+uzFuRpIKr06EpcwlMxouM4L8yzGIU6xF6WSzh4uKM+VwoLful81W2rOtBNbTGg7haHojOLCfTIWCGMBACn97fj8Y7Mn19CesZtHA1CuL',
  'O7ZZsSEdvd2sPAVIgtrbae6IJaPJQtqzsSjgkNbfqIiZIcoL8pMH9g2o62FD8y73CjBJG2+wkpXEM3hDawqsoVJIG/Z0v6e4hPRXXUxyLZXVytfomHj1aUw+',
  'V8cwggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIqEj4/TfQ',
  '2tACAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAYiBTP5F+ddNG80GjAXyynBIGQWurEiGTXaal0Jd2k9viTmIUmscQRI5dI2RdKstxILv9k9xDe',
  '+++UXPR2u6nThXT5c6hplrsmln5iYy93ISVdQn9TOslTnvK+wv1Uht/Y7GXrmqVauOIOVOkfTLfJQvSQ6i6Rr5dPGyRDlzrnHwqIM9W+yLPiGm4Lry51AZ36',
  'Bj/ud0U8+y2s35jHkTH96d7GMSUwIwYJKoZIhvcNAQkVMRYEFHmFL1gZEbtbgGhP3Bokd1C0HsDjMEEwMTANBglghkgBZQMEAgEFAAQgF94SpOAZ9VH4VBfv',
  'uVKvWqA6vsRTWoHX34b3wOUR6w0ECOk5p03ERzsPAgIIAA==',
].join('');

test('a store of elliptic curves, as OpenSSL makes it today, is read', async () => {
  const { keys, certificates } = await readStore(OF_CURVES, 'hush');
  expect([keys.length, certificates.length]).toEqual([1, 1]);
  expect(keys[0]?.id).toBe(certificates[0]?.id);
});

test.each([
  ['', 'no base64 of PKCS#12'],
  ['not base64!', 'no base64 of PKCS#12'],
  ['AAAA', 'no base64 of PKCS#12'],
  [Buffer.from('3'.repeat(40)).toString('base64'), 'no base64 of PKCS#12'],
  [`MIIB${'A'.repeat(2_000_000)}`, 'longer than 1400000 characters'],
])('the text %.20s is no store', (base64, reason) => expect(storeFault(base64)).toBe(reason));
