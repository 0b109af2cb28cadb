// Procedures: programs that clients and other programs call.
import type { Feature } from '../../resources/catalog/index.ts';
import { PROCEDURES } from './procedures-kind.ts';

export const procedures: Feature = { name: 'procedures', kinds: [PROCEDURES] };
