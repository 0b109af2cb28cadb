// The list of all features, which define everything that users can name. A further feature is a folder of features/ and a line here.
import { FeatureRegistry } from '../resources/catalog/index.ts';
import { accounts } from '../features/accounts/index.ts';
import { audits } from '../features/audits/index.ts';
import { backups } from '../features/backups/index.ts';
import { builtins } from '../features/builtins/index.ts';
import { collaboration } from '../features/collaboration/index.ts';
import { delivery } from '../features/delivery/index.ts';
import { deployment } from '../features/deployment/index.ts';
import { federation } from '../features/federation/index.ts';
import { groups } from '../features/groups/index.ts';
import { profiles } from '../features/profiles/index.ts';
import { diagnostics } from '../features/diagnostics/index.ts';
import { documents } from '../features/documents/index.ts';
import { nodes } from '../features/nodes/index.ts';
import { notifications } from '../features/notifications/index.ts';
import { quotas } from '../features/quotas/index.ts';
import { procedures } from '../features/procedures/index.ts';
import { rules } from '../features/rules/index.ts';
import { projects } from '../features/projects/index.ts';
import { scalars } from '../features/scalars/index.ts';
import { schedules } from '../features/schedules/index.ts';
import { secrets } from '../features/secrets/index.ts';
import { services } from '../features/services/index.ts';
import { sources } from '../features/sources/index.ts';
import { topics } from '../features/topics/index.ts';
import { types } from '../features/types/index.ts';

export const FEATURES = new FeatureRegistry([
  types,
  scalars,
  services,
  topics,
  sources,
  procedures,
  rules,
  diagnostics,
  schedules,
  deployment,
  accounts,
  profiles,
  groups,
  quotas,
  collaboration,
  notifications,
  delivery,
  documents,
  audits,
  secrets,
  projects,
  backups,
  nodes,
  federation,
  builtins,
]);
