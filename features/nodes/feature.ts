// Nodes: other installations on which statements can run.
import type { Feature } from '../../resources/catalog/index.ts';
import { NODES } from './nodes-kind.ts';

export const nodes: Feature = { name: 'nodes', kinds: [NODES] };
