// Audits: who changed which instance. The service stores its audits with the changes (resources/access/audits.ts); users may add others.
import type { Feature } from '../../resources/catalog/index.ts';
import { auditOf } from '../../resources/access/index.ts';
import { AUDIT_RESOURCE } from './audits-resource.ts';

export const audits: Feature = { name: 'audits', instances: [AUDIT_RESOURCE], policies: [{ name: 'audits', accompany: auditOf }] };
