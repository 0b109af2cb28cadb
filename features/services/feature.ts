// Services: groups of procedures with state and events of their own.
import { getOwn } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Feature } from '../../resources/catalog/index.ts';
import { publish, status } from './requests.ts';
import { publishServiceEvent } from './service-events.ts';
import { SERVICES } from './services-kind.ts';

export const services: Feature = {
  name: 'services',
  kinds: [SERVICES],
  answers: { services: { publish, status } },
  operations: {
    publishServiceEvent: async (space, payload, actor) => {
      const target = String(getOwn(payload, 'target')).replace(/^\//, '');
      const slash = target.lastIndexOf('/');
      if (slash < 0) throw apiError('cascade.resource.not.found', `/services/${target}`);
      const from = getOwn(payload, 'from');
      const by = typeof from === 'string' ? from : null;
      await publishServiceEvent(space, target.slice(0, slash), target.slice(slash + 1), getOwn(payload, 'value'), actor, by);
      return { ok: 'null' };
    },
  },
};
