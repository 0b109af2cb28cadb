// Nodes: other installations that statements can be carried out on.
import type { Feature } from '../../resources/catalog/index.ts';
import { NODES } from './nodes-kind.ts';

export const nodes: Feature = { name: 'nodes', kinds: [NODES] };
