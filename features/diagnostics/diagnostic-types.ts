// Types for diagnosis: messages and snapshots of programs. Only the service writes them.
import { LOG_TYPE, SNAPSHOT_TYPE, type InstanceResource } from '../../resources/catalog/index.ts';

export const LOGS: InstanceResource = {
  kind: 'instances',
  name: 'logs',
  type: LOG_TYPE,
  collection: 'logs',
  operations: new Set(['select', 'aggregate', 'delete']),
  defaultSort: { invocationId: 1, sequenceId: 1 },
};

export const SNAPSHOTS: InstanceResource = {
  kind: 'instances',
  name: 'ArsRuleSnapshot',
  type: SNAPSHOT_TYPE,
  collection: SNAPSHOT_TYPE.collection,
  operations: new Set(['select', 'aggregate', 'delete']),
  defaultSort: { _id: 1 },
  asType: true,
};
