// Scalars: base types with a meaning and constraints of their own.
import type { Feature } from '../../resources/catalog/index.ts';
import { SCALARS } from './scalars-kind.ts';

export const scalars: Feature = { name: 'scalars', kinds: [SCALARS] };
