// The door of users, tokens, namespaces and organizations.
export { accounts } from './feature.ts';
export { resetAccount } from './reset.ts';
export { requireGrantable } from './rights.ts';
export { propertiesIn } from './shown.ts';
