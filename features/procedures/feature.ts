// Procedures: programs that are called.
import type { Feature } from '../../resources/catalog/index.ts';
import { PROCEDURES } from './procedures-kind.ts';

export const procedures: Feature = { name: 'procedures', kinds: [PROCEDURES] };
