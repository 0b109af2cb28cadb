// Profiles: the rights of users.
import type { Feature } from '../../resources/catalog/index.ts';
import { profilePolicy } from './policy.ts';
import { PROFILES } from './profiles-kind.ts';

export const profiles: Feature = { name: 'profiles', kinds: [PROFILES], policies: [profilePolicy] };
