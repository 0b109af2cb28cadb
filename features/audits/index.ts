// The door of audits: security audits of the service.
export { auditedIn, auditSecurity } from './security-audits.ts';
export { audits } from './feature.ts';
