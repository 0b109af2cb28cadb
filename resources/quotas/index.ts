// Quotas of organizations (resources-and-api.md 9): the granted amounts, and their use.
export { databasesIn } from './databases.ts';
export { parseQuota } from './quota.ts';
export { Quotas } from './quotas.ts';
export type { Release, Usage } from './usage.ts';
