// Diagnosis of programs: their messages, snapshots and recordings, and how many of each are stored.
import type { Feature } from '../../resources/catalog/index.ts';
import { DEBUGCONFIGS } from './debugconfigs-kind.ts';
import { LOGS, SNAPSHOTS } from './diagnostic-types.ts';

export const diagnostics: Feature = { name: 'diagnostics', kinds: [DEBUGCONFIGS], instances: [LOGS, SNAPSHOTS] };
