// Topics: messages within a namespace, and requests that a rule answers.
import { langError } from '../../stdlib/errors.ts';
import { getOwn, isObject } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { requireRight, requireUse } from '../../resources/access/index.ts';
import type { Feature } from '../../resources/catalog/index.ts';
import { typeName } from '../../resources/operations/index.ts';
import { idOf, reply } from '../../resources/requests/index.ts';
import { publishRequest, publishTopic } from './publish.ts';
import { TOPICS } from './topics-kind.ts';

export const topics: Feature = {
  name: 'topics',
  kinds: [TOPICS],
  answers: {
    topics: {
      publish: async (space, request, actor) => {
        const id = space.catalog.definitions.nameAt('topics', idOf(request));
        if (!id.startsWith('/')) throw apiError('cascade.resource.not.found', `/topics/${id}`);
        requireUse(space, 'topics', id, 'publish', actor.identity);
        await publishTopic(space, id, request.object ?? null, actor);
        return reply('{}');
      },
    },
  },
  operations: {
    publishRequest: async (space, payload, actor) => {
      const type = String(getOwn(payload, 'resource'));
      if (!space.catalog.types.has(type)) throw apiError('cascade.resource.type.not.found', type);
      requireRight(space, TOPICS, 'publish', actor.identity);
      requireUse(space, 'types', type, 'publish', actor.identity);
      const value = getOwn(payload, 'value');
      if (!isObject(value)) throw langError('cascade.lang.publish.value', typeName(value), 'published');
      await publishRequest(space, type, value, actor);
      return { ok: 'null' };
    },
  },
};
