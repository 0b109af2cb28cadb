// What stores of PKCS#12 hold, and that none keeps this process for longer than it may.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const began = performance.now();
  let longest = 0;
  let last = began;
  const beat = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await expect(readStore(newStore(2 ** 31 - 1), 'hush', 500)).rejects.toThrow('cannot be opened within 500 ms');
  clearInterval(beat);
  expect(longest).toBeLessThan(400);
});

test('a store of elliptic curves, as OpenSSL makes it today, is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  try {
    const run = (...args: string[]): Buffer => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    run('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'k', '-out', 'c', '-subj', '/CN=x');
    const store = run('pkcs12', '-export', '-inkey', 'k', '-in', 'c', '-passout', 'pass:hush');
    const { keys, certificates } = await readStore(store.toString('base64'), 'hush');
    expect([keys.length, certificates.length]).toEqual([1, 1]);
    expect(keys[0]?.id).toBe(certificates[0]?.id);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['', 'no base64 of PKCS#12'],
  ['not base64!', 'no base64 of PKCS#12'],
  ['AAAA', 'no base64 of PKCS#12'],
  [Buffer.from('3'.repeat(40)).toString('base64'), 'no base64 of PKCS#12'],
  [`MIIB${'A'.repeat(2_000_000)}`, 'longer than 1400000 characters'],
])('the text %.20s is no store', (base64, reason) => expect(storeFault(base64)).toBe(reason));
