// Sources: connections to systems outside, for messages in both directions.
import { langError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isLong } from '../../model/types/index.ts';
import { toJson, toJsonInPieces } from '../../model/values/index.ts';
import { finishInSlices, resultsOf } from '../../platform/structures/index.ts';
import { requireUse, requireRight } from '../../resources/access/index.ts';
import type { Feature } from '../../resources/catalog/index.ts';
import { innerText } from '../../resources/instances/index.ts';
import { typeName } from '../../resources/operations/index.ts';
import { idOf, reply } from '../../resources/requests/index.ts';
import { callerOf, shownRow, withReferences } from './documents.ts';
import { publishToSource, querySource, sourceNamed } from './outbound.ts';
import { SOURCES } from './sources-kind.ts';
import { sourcesOf } from './namespace-state.ts';

const noRequest = () => apiError('cascade.request.body.invalid', 'an object is expected', 0);
const notPublished = (value: Value) => langError('cascade.lang.publish.value', typeName(value), 'PUBLISH TO SOURCE');

export const sources: Feature = {
  name: 'sources',
  kinds: [SOURCES],
  answers: {
    sources: {
      publish: async (space, request, actor) => {
        requireUse(space, 'sources', idOf(request), 'publish', actor.identity);
        await publishToSource(space, idOf(request), request.object ?? null, null, actor, noRequest);
        return reply('{}');
      },
      /** Answers with the response of the source itself, without an envelope (integrations.md 1.5). */
      query: async (space, request, actor) => {
        const asked = request.object ?? {};
        if (!isObject(asked)) throw noRequest();
        requireUse(space, 'sources', idOf(request), 'query', actor.identity);
        const caller = callerOf(space, actor);
        using room = sourcesOf(space).outlet.answerRoom();
        const row = await querySource(space, idOf(request), asked, actor, room, caller);
        const shown = await shownRow(space, caller.hasSaved ? withReferences(row) : row);
        return reply(isLong(shown) ? await finishInSlices(resultsOf(space.name), toJsonInPieces(shown)) : toJson(shown));
      },
      status: async (space, request) => reply(toJson(sourcesOf(space).status(sourceNamed(space, idOf(request))))),
      /** The channels that a chatbot belongs to (integrations.md 6.3). */
      channels: async (space, request) => {
        const source = sourceNamed(space, idOf(request));
        return reply(toJson(await sourcesOf(space).view(String(getOwn(source, 'name')), 'channels')));
      },
    },
  },
  operations: {
    publishSource: async (space, payload, actor) => {
      requireRight(space, SOURCES, 'publish', actor.identity);
      requireUse(space, 'sources', String(getOwn(payload, 'source')), 'publish', actor.identity);
      const [source, value, using] = [String(getOwn(payload, 'source')), getOwn(payload, 'value'), getOwn(payload, 'using')];
      await publishToSource(space, source, value, using, actor, notPublished);
      return { ok: 'null' };
    },
    query: async (space, payload, actor) => {
      requireRight(space, SOURCES, 'query', actor.identity);
      requireUse(space, 'sources', String(getOwn(payload, 'source')), 'query', actor.identity);
      const request = getOwn(payload, 'request') as ObjectValue;
      using room = sourcesOf(space).outlet.answerRoom();
      const row = await querySource(space, String(getOwn(payload, 'source')), request, actor, room);
      // Not behind the answers that are still to be read: what waits holds its values.
      return { ok: await innerText({ name: resultsOf(space.name) }, row) };
    },
  },
};
