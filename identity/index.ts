// Who may come in: users, passwords, tokens, the first start (resources-and-api.md 6). This is the folder's door.
// Rights (what an identity may do) are the engine's; the headers and addresses of a login are the binding's.
export {
  type Directory,
  type NamespaceRecord,
  type OrganizationRecord,
  openDirectory,
  type TokenRecord,
  type UserRecord,
} from './directory.ts';
export { TOKEN_TYPES, type TokenType, USER_DETAILS, type UserDetail } from './documents.ts';
export { openIdentity } from './open-identity.ts';
export { generatePassword, isCheap, type PasswordCost, passwordCostOf } from './passwords.ts';
export type { Along, FirstStart, FirstStartOptions, Identity, IdentityStore, NewAccessToken, NewUser, Session } from './types.ts';
export { namespaceAndProfiles, type RightsOf } from './rights.ts';
export { type SecurityEvent, SecurityLog } from './security-log.ts';
export { narrowed } from './sessions.ts';
