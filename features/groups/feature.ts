// Groups: they limit instances and definitions to their members.
import type { Feature } from '../../resources/catalog/index.ts';
import { GROUPS } from './groups-kind.ts';
import { leaveGroups } from './leave-groups.ts';
import { groupPolicy } from './policy.ts';

export const groups: Feature = { name: 'groups', kinds: [GROUPS], policies: [groupPolicy], forgetUser: leaveGroups };
