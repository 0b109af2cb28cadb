// Quotas on stored objects, as a policy.
import type { Feature } from '../../resources/catalog/index.ts';
import { quotaPolicy } from './policy.ts';

export const quotas: Feature = { name: 'quotas', policies: [quotaPolicy] };
