// PROCESSED BY: statements on nodes.
import type { Feature } from '../../resources/feature.ts';
import { closeStatement, nextOfStatement, openStatement } from './operations.ts';

export const federation: Feature = {
  name: 'federation',
  operations: { nodeOpen: openStatement, nodeNext: nextOfStatement, nodeClose: closeStatement },
};
