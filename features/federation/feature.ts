// Federation: statements with PROCESSED BY run on nodes.
import type { Feature } from '../../resources/catalog/index.ts';
import { nodeStatus } from './status.ts';
import { closeStatement, nextOfStatement, openStatement } from './operations.ts';

export const federation: Feature = {
  name: 'federation',
  answers: { nodes: { status: nodeStatus } },
  operations: { nodeOpen: openStatement, nodeNext: nextOfStatement, nodeClose: closeStatement },
};
