// Tokens as such: 256 random bits behind a prefix that tells the kind, and the hash by which alone the store knows them.
import { createHash, randomBytes } from 'node:crypto';

export type TokenKind = 'session' | 'permanent';

const PREFIX = { session: 'css_', permanent: 'cst_', invitation: 'csi_' } as const satisfies Record<TokenKind | 'invitation', string>;

export const SESSION_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** However often a login is renewed: then a password is needed again. */
export const LONGEST_LOGIN_MS = 30 * SESSION_LIFETIME_MS;

/** Sessions that are made one from the other, by renewal or login: each names all before it. */
export const LONGEST_CHAIN = 1_000;

export const newToken = (kind: keyof typeof PREFIX): string => PREFIX[kind] + randomBytes(32).toString('base64url');

/** What can be a token at all (resources-and-api.md 6.2); anything else is refused unread. */
export const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{20,200}$/.test(text);

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url');
