// Secrets: values that configs of sources name, and that no user can read.
import type { Feature } from '../../resources/catalog/index.ts';
import { SECRETS } from './secrets-kind.ts';

export const secrets: Feature = { name: 'secrets', kinds: [SECRETS] };
