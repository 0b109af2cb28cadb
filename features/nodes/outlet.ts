// The outlet of a namespace, for the check of a node's address at its registration.
import { StateKey } from '../../resources/states.ts';
import type { Outlet } from '../../platform/egress/index.ts';

export const NODES_OUTLET = new StateKey<Outlet>('the way out to nodes');
