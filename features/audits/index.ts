// Audits of what the service does about security. This is the folder's door.
export { auditedIn, auditSecurity } from './security-audits.ts';
export { audits } from './feature.ts';
