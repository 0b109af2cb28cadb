// Sources: the ways to and from systems outside.
import { encodeInner, getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { fault } from '../../model/errors/faults.ts';
import { toJson } from '../../model/values/index.ts';
import { requireRight } from '../../resources/access/rights.ts';
import type { Feature } from '../../resources/feature.ts';
import { idOf, reply } from '../../resources/requests/request.ts';
import { publishToSource, querySource, sourceNamed } from './outbound.ts';
import { SOURCES } from './sources-kind.ts';
import { statusOfSource } from './state.ts';

export const sources: Feature = {
  name: 'sources',
  kinds: [SOURCES],
  answers: {
    sources: {
      publish: async (space, request, actor) => {
        await publishToSource(space, idOf(request), request.object ?? null, null, actor);
        return reply('{}');
      },
      /** The response of a source, bare (integrations.md 1.5). */
      query: async (space, request, actor) => {
        const asked = request.object ?? {};
        if (!isObject(asked)) throw fault('cascade.request.body.invalid', 'an object is expected', 0);
        return reply(toJson(await querySource(space, idOf(request), asked, actor)));
      },
      status: async (space, request) => reply(toJson(statusOfSource(space, sourceNamed(space, idOf(request))))),
    },
  },
  operations: {
    publishSource: async (space, payload, actor) => {
      requireRight(space, SOURCES, 'publish', actor.identity);
      await publishToSource(space, String(getOwn(payload, 'source')), getOwn(payload, 'value'), getOwn(payload, 'using'), actor);
      return { ok: 'null' };
    },
    query: async (space, payload, actor) => {
      requireRight(space, SOURCES, 'query', actor.identity);
      const request = getOwn(payload, 'request') as ObjectValue;
      return { ok: encodeInner(await querySource(space, String(getOwn(payload, 'source')), request, actor)) };
    },
  },
};
