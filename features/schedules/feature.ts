// Scheduled events: messages at a time.
import type { Feature } from '../../resources/feature.ts';
import { SCHEDULED_EVENTS } from './scheduledevents-kind.ts';

export const schedules: Feature = { name: 'schedules', kinds: [SCHEDULED_EVENTS] };
