// PKCS#12 stores as they stand in configs: base64 texts, which forge reads, since OpenSSL in Node refuses old ciphers and stores without a key.
import forge from 'node-forge';

/** The version of every store since RFC 7292. */
const VERSION = 3;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/** Why a text cannot be a store, whatever its password is; null: it may be one. */
export function storeFault(base64: string): string | null {
  try {
    if (BASE64.test(base64) && isStore(contentsOf(base64))) return null;
  } catch {
    // forge throws at what is no DER
  }
  return 'no base64 of PKCS#12';
}

const contentsOf = (base64: string): forge.asn1.Asn1 => forge.asn1.fromDer(Buffer.from(base64, 'base64').toString('binary'));

function isStore({ type, value }: forge.asn1.Asn1): boolean {
  if (type !== forge.asn1.Type.SEQUENCE || !Array.isArray(value)) return false;
  const [version, safe] = value;
  return (
    version?.type === forge.asn1.Type.INTEGER && version.value === String.fromCharCode(VERSION) && safe?.type === forge.asn1.Type.SEQUENCE
  );
}

/** @throws Error for an unreadable store, or a wrong password */
export const openStore = (base64: string, password: string): forge.pkcs12.Pkcs12Pfx =>
  forge.pkcs12.pkcs12FromAsn1(contentsOf(base64), password);
