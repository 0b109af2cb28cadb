// The TLS options of a config (integrations.md 1.11): checks them, and converts them to those of Node.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import forge from 'node-forge';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { openStore, storeFault } from './pkcs12.ts';

/** Returns why a value does not fit, or null. */
type Fits = (value: Value) => string | null;

const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);
const flag: Fits = (value) => (typeof value === 'boolean' ? null : 'no Boolean');
const object: Fits = (value) => (isObject(value) ? null : 'no Object');

/** Whether a text names a secret in place of holding it: what it stands for is known when the connection is opened. */
export const isNamedSecret = (value: unknown): boolean => typeof value === 'string' && /@secrets\(.+\)/.test(value);

/** Fields that name files of the server, which no namespace may read. */
const FILE_FIELDS = ['path', 'certPath', 'certPaths', 'keyPath', 'keyPaths'];

const within =
  (check: (options: ObjectValue) => string | null): Fits =>
  (value) => {
    if (!isObject(value)) return 'no Object';
    const file = FILE_FIELDS.find((name) => Object.hasOwn(value, name));
    return file === undefined ? check(value) : `${file}: no files of the server`;
  };

/** A text in PEM, or the base64 of one. */
function pemOf(value: Value): string | null {
  if (typeof value !== 'string') return null;
  const pem = value.includes('-----BEGIN') ? value : Buffer.from(value, 'base64').toString('latin1');
  return pem.includes('-----BEGIN') ? pem : null;
}

const CERTIFICATE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*-----END \1-----/g;

/** @throws Error for a text without certificates, or with one that cannot be read */
function requireCertificates(pem: string): void {
  const found = pem.match(CERTIFICATE);
  if (!found) throw new Error('no certificate');
  for (const one of found) void new X509Certificate(one);
}

const pems = (options: ObjectValue, name: string, require: (pem: string) => unknown): string | null => {
  const values = own(options, name);
  if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === 'string'))
    return `${name}: no array of PEM texts`;
  return values.every((value) => isNamedSecret(value) || isReadable(value, require)) ? null : `${name}: no PEM that can be read`;
};

function isReadable(value: Value, require: (pem: string) => unknown): boolean {
  const pem = pemOf(value);
  if (pem === null) return false;
  try {
    require(pem);
    return true;
  } catch {
    return false;
  }
}

const certificates = (options: ObjectValue): string | null => pems(options, 'certValues', requireCertificates);

const store: Fits = within((options) => {
  const [value, alias] = [own(options, 'value'), own(options, 'alias')];
  const wrong = typeof value !== 'string' ? 'no String' : isNamedSecret(value) ? null : storeFault(value);
  if (wrong !== null) return `value: ${wrong}`;
  return alias === null || typeof alias === 'string' ? null : 'alias: no String';
});

const noFiles: Fits = () => 'Java keystores are not read: give PKCS#12 or PEM';

export const TLS_FIELDS: Readonly<Record<string, Fits>> = {
  trustAll: flag,
  pemTrustOptions: within(certificates),
  trustStoreOptions: store,
  pemKeyCertOptions: within((options) => certificates(options) ?? pems(options, 'keyValues', createPrivateKey)),
  keyStoreOptions: store,
  proxyOptions: object,
  jksOptions: noFiles,
};

/** Checks the certificates and keys themselves: the field and the reason. @param config with its secrets */
export function faultyTls(config: ObjectValue): readonly [string, string] | null {
  for (const field of ['pemTrustOptions', 'trustStoreOptions', 'pemKeyCertOptions', 'keyStoreOptions']) {
    const options = own(config, field);
    if (options === null) continue;
    try {
      createSecureContext(tlsOptions({ [field]: options }));
    } catch {
      return [field, 'it cannot be read, or its password is wrong'];
    }
  }
  return null;
}

/** @param config with its secrets; absent fields have the system's defaults @throws Error for unreadable certificates or keys */
export function tlsOptions(config: ObjectValue): ConnectionOptions {
  const options: ConnectionOptions = {};
  if (own(config, 'trustAll') === true) options.rejectUnauthorized = false;
  const trust = own(config, 'pemTrustOptions');
  if (isObject(trust)) options.ca = all(trust, 'certValues');
  const keys = own(config, 'pemKeyCertOptions');
  if (isObject(keys)) {
    options.cert = all(keys, 'certValues').join('\n');
    options.key = all(keys, 'keyValues').join('\n');
  }
  const keyStore = own(config, 'keyStoreOptions');
  if (isObject(keyStore) && own(keyStore, 'alias') !== null) Object.assign(options, keyNamed(keyStore, String(own(keyStore, 'alias'))));
  else if (isObject(keyStore)) options.pfx = [storeOf(keyStore)];
  const trustStore = own(config, 'trustStoreOptions');
  if (isObject(trustStore)) options.ca = [...[options.ca ?? []].flat(), ...certificatesOf(trustStore)];
  return options;
}

const storeOf = (options: ObjectValue): { buf: Buffer; passphrase: string } => ({
  buf: Buffer.from(String(own(options, 'value')), 'base64'),
  passphrase: String(own(options, 'password') ?? ''),
});

const all = (options: ObjectValue, name: string): string[] => {
  const values = own(options, name);
  return (Array.isArray(values) ? values : []).map((value) => {
    const pem = pemOf(value);
    if (pem === null) throw new Error(`${name} holds what is no PEM`);
    return pem;
  });
};

const opened = (options: ObjectValue): forge.pkcs12.Pkcs12Pfx =>
  openStore(String(own(options, 'value')), String(own(options, 'password') ?? ''));

/** The key of that alias, and its certificate. @throws Error for an unreadable store, or one without the alias */
function keyNamed(options: ObjectValue, alias: string): { key: string; cert: string } {
  const store = opened(options);
  const { pkcs8ShroudedKeyBag = '', keyBag = '', certBag = '' } = forge.pki.oids;
  const keys = [pkcs8ShroudedKeyBag, keyBag].flatMap((bagType) => store.getBags({ bagType })[bagType] ?? []);
  const named = ({ attributes = {} }: forge.pkcs12.Bag): boolean => [attributes.friendlyName ?? []].flat().includes(alias);
  const id = (bag: forge.pkcs12.Bag): unknown => [bag.attributes?.localKeyId ?? []].flat()[0];
  const found = keys.find(named);
  const certificate = (store.getBags({ bagType: certBag })[certBag] ?? []).find(
    (bag) => bag.cert && (named(bag) || (found && id(found) !== undefined && id(bag) === id(found))),
  );
  if (!found?.key || !certificate?.cert) throw new Error(`there is no key ${alias}`);
  return { key: forge.pki.privateKeyToPem(found.key), cert: forge.pki.certificateToPem(certificate.cert) };
}

/**
 * The certificates of a PKCS#12 store as PEM. forge reads them: OpenSSL in Node reads no store without a key.
 * @throws Error for an unreadable store
 */
function certificatesOf(options: ObjectValue): string[] {
  const store = opened(options);
  const bags = store.getBags({ bagType: forge.pki.oids['certBag'] })[forge.pki.oids['certBag'] as string] ?? [];
  return bags.map((bag) => {
    const der = forge.asn1.toDer(bag.cert ? forge.pki.certificateToAsn1(bag.cert) : (bag as { asn1: forge.asn1.Asn1 }).asn1).getBytes();
    return `-----BEGIN CERTIFICATE-----\n${Buffer.from(der, 'binary').toString('base64')}\n-----END CERTIFICATE-----`;
  });
}
