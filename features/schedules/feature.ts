// Scheduled events: messages that are published at a time. The statement PUBLISH belongs here, since it may have a schedule.
import { getOwn } from '../../stdlib/values/index.ts';
import { requirePublish, requireRight } from '../../resources/access/index.ts';
import type { Feature } from '../../resources/catalog/index.ts';
import { publishTopic } from '../topics/index.ts';
import { scheduleByStatement, SCHEDULED_EVENTS } from './scheduledevents-kind.ts';

export const schedules: Feature = {
  name: 'schedules',
  kinds: [SCHEDULED_EVENTS],
  operations: {
    publish: async (space, payload, actor) => {
      const topic = String(getOwn(payload, 'topic'));
      requirePublish(space, topic, actor.identity);
      const schedule = Object.hasOwn(payload, 'schedule') ? getOwn(payload, 'schedule') : undefined;
      if (schedule === undefined) await publishTopic(space, topic, getOwn(payload, 'value'), actor);
      else {
        requireRight(space, SCHEDULED_EVENTS, 'insert', actor.identity);
        await scheduleByStatement(space, topic, getOwn(payload, 'value'), schedule, actor);
      }
      return { ok: 'null' };
    },
  },
};
