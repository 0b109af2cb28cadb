// Secrets: values that configurations of sources name and nobody reads.
import type { Feature } from '../../resources/catalog/index.ts';
import { SECRETS } from './secrets-kind.ts';

export const secrets: Feature = { name: 'secrets', kinds: [SECRETS] };
