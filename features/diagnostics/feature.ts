// What programs leave for those who look for errors: messages, snapshots, and how much of each is kept.
import type { Feature } from '../../resources/catalog/index.ts';
import { DEBUGCONFIGS } from './debugconfigs-kind.ts';
import { LOGS, SNAPSHOTS } from './diagnostic-types.ts';

export const diagnostics: Feature = { name: 'diagnostics', kinds: [DEBUGCONFIGS], instances: [LOGS, SNAPSHOTS] };
