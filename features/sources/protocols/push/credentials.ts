// Checks of the credentials of push services: what is wrong with one without its service is told when it is stored.
import { type Fits, text } from '../fields.ts';
import { storeFault } from '../../../../platform/egress/index.ts';
import { serviceAccountIn } from './fcm.ts';
import { privateKeyOf } from './tokens.ts';

/** A value of a header. */
export const printable: Fits = (value) =>
  text(value) ?? (/^[!-~]+$/.test(value as string) ? null : 'other characters than printable ASCII');

/** The JSON of a service account, or a legacy key. */
export const firebaseKey: Fits = (value) => {
  const wrong = text(value);
  if (wrong !== null) return wrong;
  try {
    return serviceAccountIn(value as string) ? null : printable(value);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** The text of a `.p8` file: Apple's tokens are signed with ES256. */
export const apnsKey: Fits = (value) => {
  const wrong = text(value);
  if (wrong !== null) return wrong;
  try {
    const { asymmetricKeyDetails } = privateKeyOf(value as string);
    return asymmetricKeyDetails?.namedCurve === 'prime256v1' ? null : 'no key of the curve P-256';
  } catch {
    return 'no private key in PEM';
  }
};

export const pkcs12Contents: Fits = (value) => text(value) ?? storeFault(value as string);
