// A worker that opens one PKCS#12 store and answers with what it holds, or null (pkcs12.ts).
import { parentPort, workerData } from 'node:worker_threads';
import forge from 'node-forge';
import type { StoreContents, StoreEntry, StoreQuestion } from './pkcs12.ts';

// What Node stretches keys with in its own code cannot be ended.
(forge as typeof forge & { options: { usePureJavaScript: boolean } }).options.usePureJavaScript = true;

function contentsOf({ base64, password }: StoreQuestion): StoreContents | null {
  try {
    const store = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(Buffer.from(base64, 'base64').toString('binary')), password);
    const bags = (...types: string[]): forge.pkcs12.Bag[] => types.flatMap((bagType) => store.getBags({ bagType })[bagType] ?? []);
    const { pkcs8ShroudedKeyBag = '', keyBag = '', certBag = '' } = forge.pki.oids;
    return {
      keys: bags(pkcs8ShroudedKeyBag, keyBag).map((bag) => entryOf(bag, 'PRIVATE KEY', keyIn(bag))),
      certificates: bags(certBag).map((bag) => entryOf(bag, 'CERTIFICATE', bag.cert ? forge.pki.certificateToAsn1(bag.cert) : rawOf(bag))),
    };
  } catch {
    return null; // whatever is wrong with it, or with the password
  }
}

/** What forge has no object for: keys and certificates of elliptic curves. */
const rawOf = (bag: forge.pkcs12.Bag): forge.asn1.Asn1 => (bag as { asn1: forge.asn1.Asn1 }).asn1;

const keyIn = (bag: forge.pkcs12.Bag): forge.asn1.Asn1 =>
  bag.key ? forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(bag.key)) : rawOf(bag);

function entryOf({ attributes = {} }: forge.pkcs12.Bag, label: string, contents: forge.asn1.Asn1): StoreEntry {
  const texts = (value: unknown): string[] => [value ?? []].flat().map(String);
  const base64 = Buffer.from(forge.asn1.toDer(contents).getBytes(), 'binary').toString('base64');
  return {
    names: texts(attributes.friendlyName),
    id: texts(attributes.localKeyId)[0] ?? null,
    pem: `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----`,
  };
}

parentPort?.postMessage(contentsOf(workerData as StoreQuestion));
