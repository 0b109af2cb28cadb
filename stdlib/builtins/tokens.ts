// JSON Web Tokens (builtins.md 18.1). The host makes and checks them, since the isolate has no cryptography but digests.
import type { Declaration, DeclaredCode } from './declaration.ts';

const asked = (call: string, about: string, errors: readonly DeclaredCode[] = []): Declaration => ({
  call,
  forms: 'S',
  about,
  errors,
  effect: 'suspends',
});

export const tokens: readonly Declaration[] = [
  asked(
    'JWT.createToken(signingAlgorithm: String, claims: Object, signingKey?: String) => String',
    'A token signed by HS256, HS384, HS512, RS256, RS384, RS512, ES256, ES384 or ES512, or unsigned by NONE.',
    ['cascade.lang.range'],
  ),
  asked(
    'JWT.createTokenWithHeaders(headers: Object, claims: Object, signingKey?: String) => String',
    'A token with headers of its own, `alg` among them.',
    ['cascade.lang.range'],
  ),
  asked(
    'JWT.createTokenUsingResource(signingAlgorithm: String, claims: Object, resource: String, resourceId: String) => String',
    'A token signed by the key that is the content of a document.',
    ['cascade.lang.range', 'cascade.resource.not.found'],
  ),
  asked(
    'JWT.createTokenWithHeadersUsingResource(headers: Object, claims: Object, resource: String, resourceId: String) => String',
    'The same with headers of its own.',
    ['cascade.lang.range', 'cascade.resource.not.found'],
  ),
  asked(
    'JWT.decodeAndVerifyToken(token: String, verificationKey?: String) => Object',
    'The headers and claims of a token, and whether its signature is that of the key.',
    ['cascade.builtin.parse', 'cascade.lang.range'],
  ),
  asked(
    'JWT.decodeAndVerifyTokenUsingResource(token: String, resource: String, resourceId: String) => Object',
    'The same with the key that is the content of a document.',
    ['cascade.builtin.parse', 'cascade.lang.range', 'cascade.resource.not.found'],
  ),
];
