// Messages to the devices of users.
import type { Feature } from '../../resources/feature.ts';
import { notifications as builtins } from './notifications.ts';

export const notifications: Feature = { name: 'notifications', builtins };
