// Everything that users can name. A further feature is a folder of features/ and a line here.
import { FeatureRegistry } from '../resources/catalog/feature.ts';
import { accounts } from '../features/accounts/feature.ts';
import { audits } from '../features/audits/feature.ts';
import { builtins } from '../features/builtins/feature.ts';
import { collaboration } from '../features/collaboration/feature.ts';
import { delivery } from '../features/delivery/feature.ts';
import { deployment } from '../features/deployment/feature.ts';
import { federation } from '../features/federation/feature.ts';
import { groups } from '../features/groups/feature.ts';
import { profiles } from '../features/profiles/feature.ts';
import { diagnostics } from '../features/diagnostics/feature.ts';
import { documents } from '../features/documents/feature.ts';
import { nodes } from '../features/nodes/feature.ts';
import { notifications } from '../features/notifications/feature.ts';
import { quotas } from '../features/quotas/feature.ts';
import { procedures } from '../features/procedures/feature.ts';
import { rules } from '../features/rules/feature.ts';
import { projects } from '../features/projects/feature.ts';
import { scalars } from '../features/scalars/feature.ts';
import { schedules } from '../features/schedules/feature.ts';
import { secrets } from '../features/secrets/feature.ts';
import { services } from '../features/services/feature.ts';
import { sources } from '../features/sources/feature.ts';
import { topics } from '../features/topics/feature.ts';
import { types } from '../features/types/feature.ts';

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
  nodes,
  federation,
  builtins,
]);
