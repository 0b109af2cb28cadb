// The TLS options of a config (integrations.md 1.11): checks them, and converts them to those of Node.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { readStore, type StoreContents, type StoreEntry, storeFault } from './pkcs12.ts';

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
export async function faultyTls(config: ObjectValue): Promise<readonly [string, string] | null> {
  for (const field of ['pemTrustOptions', 'trustStoreOptions', 'pemKeyCertOptions', 'keyStoreOptions']) {
    const options = own(config, field);
    if (options === null) continue;
    try {
      createSecureContext(await tlsOptions({ [field]: options }));
    } catch {
      return [field, 'it cannot be read, or its password is wrong'];
    }
  }
  return null;
}

/** @param config with its secrets; absent fields have the system's defaults @throws Error for unreadable certificates or keys */
export async function tlsOptions(config: ObjectValue): Promise<ConnectionOptions> {
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
  if (isObject(keyStore)) {
    const alias = own(keyStore, 'alias');
    Object.assign(options, keyOf(await contentsOf(keyStore), alias === null ? null : String(alias)));
  }
  const trustStore = own(config, 'trustStoreOptions');
  if (isObject(trustStore)) {
    const { certificates: trusted } = await contentsOf(trustStore);
    options.ca = [...[options.ca ?? []].flat(), ...trusted.map(({ pem }) => pem)];
  }
  return options;
}

const contentsOf = (options: ObjectValue): Promise<StoreContents> =>
  readStore(String(own(options, 'value')), String(own(options, 'password') ?? ''));

const all = (options: ObjectValue, name: string): string[] => {
  const values = own(options, name);
  return (Array.isArray(values) ? values : []).map((value) => {
    const pem = pemOf(value);
    if (pem === null) throw new Error(`${name} holds what is no PEM`);
    return pem;
  });
};

/**
 * A key of a store with its certificate, and the other certificates as its chain.
 * @param alias null: the first key
 * @throws Error where the store has no such key
 */
export function keyOf({ keys, certificates: all }: StoreContents, alias: string | null): { key: string; cert: string } {
  const key = alias === null ? keys[0] : keys.find(({ names }) => names.includes(alias));
  const isItsOwn = ({ names, id }: StoreEntry): boolean =>
    (key?.id !== null && id === key?.id) || (alias !== null && names.includes(alias));
  const certificate = all.find(isItsOwn) ?? (alias === null ? all[0] : undefined);
  if (!key || !certificate) throw new Error(alias === null ? 'the store has no key with its certificate' : `there is no key ${alias}`);
  const chain = [certificate, ...all.filter((one) => one !== certificate)];
  return { key: key.pem, cert: chain.map(({ pem }) => pem).join('\n') };
}
