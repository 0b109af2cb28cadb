// Certificates for tests: an authority, and certificates that it signed.
import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Key and certificate with the authority's certificate, as base64 of PKCS#12. */
  pkcs12(password: string, alias?: string): string;
}

export interface Authority {
  readonly cert: string;
  /** The certificate without a key, as base64 of PKCS#12. */
  pkcs12(password: string): string;
  /** @param host the name or address of a server; without it the certificate is a client's */
  issue(commonName: string, host?: string): Certificate;
}

interface Pair {
  readonly publicKey: forge.pki.PublicKey;
  readonly privateKey: forge.pki.PrivateKey;
  readonly pem: string;
}

function newPair(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return { publicKey: forge.pki.publicKeyFromPem(publicKey), privateKey: forge.pki.privateKeyFromPem(privateKey), pem: privateKey };
}

function certificate(subject: string, issuer: string, pair: Pair, signer: Pair, extensions: object[]): forge.pki.Certificate {
  const cert = forge.pki.createCertificate();
  cert.publicKey = pair.publicKey;
  cert.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  cert.validity.notBefore = new Date(Date.now() - 86_400_000);
  cert.validity.notAfter = new Date(Date.now() + 86_400_000);
  cert.setSubject([{ name: 'commonName', value: subject }]);
  cert.setIssuer([{ name: 'commonName', value: issuer }]);
  cert.setExtensions(extensions);
  cert.sign(signer.privateKey as forge.pki.rsa.PrivateKey, forge.md.sha256.create());
  return cert;
}

const toPkcs12 = (key: forge.pki.PrivateKey | null, chain: forge.pki.Certificate[], password: string, alias?: string): string =>
  forge.util.encode64(
    forge.asn1
      .toDer(
        forge.pkcs12.toPkcs12Asn1(key as forge.pki.rsa.PrivateKey, chain, password, {
          algorithm: '3des',
          ...(alias && { friendlyName: alias }),
        }),
      )
      .getBytes(),
  );

export function newAuthority(name: string): Authority {
  const own = newPair();
  const root = certificate(name, name, own, own, [
    { name: 'basicConstraints', cA: true },
    { name: 'keyUsage', keyCertSign: true },
  ]);
  return {
    cert: forge.pki.certificateToPem(root),
    pkcs12: (password) => toPkcs12(null, [root], password),
    issue(commonName, host) {
      const pair = newPair();
      const isAddress = host !== undefined && /^[\d.]+$/.test(host);
      const names =
        host === undefined ? [] : [{ name: 'subjectAltName', altNames: [isAddress ? { type: 7, ip: host } : { type: 2, value: host }] }];
      const cert = certificate(commonName, name, pair, own, [{ name: 'basicConstraints', cA: false }, ...names]);
      return {
        cert: forge.pki.certificateToPem(cert),
        key: pair.pem,
        pkcs12: (password, alias) => toPkcs12(pair.privateKey, [cert, root], password, alias),
      };
    },
  };
}
