// Audits: who did what to which instance. The service writes them with what they tell of (resources/access/audits.ts); anybody may add some.
import type { Feature } from '../../resources/catalog/index.ts';
import { auditOf } from '../../resources/access/index.ts';
import { AUDIT_RESOURCE } from './audits-resource.ts';

export const audits: Feature = { name: 'audits', instances: [AUDIT_RESOURCE], policies: [{ name: 'audits', accompany: auditOf }] };
