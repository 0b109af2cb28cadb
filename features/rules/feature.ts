// Rules: programs that run when events occur.
import { apiError } from '../../model/errors/index.ts';
import { toJson } from '../../model/values/index.ts';
import { requireAdmin } from '../../resources/access/index.ts';
import type { Feature } from '../../resources/catalog/index.ts';
import { reply } from '../../resources/requests/index.ts';
import { findRecording } from '../diagnostics/index.ts';
import { RULES } from './rules-kind.ts';
import { why } from './why.ts';

export const rules: Feature = {
  name: 'rules',
  kinds: [RULES],
  commands: {
    // The id `*` means all rules on the event's path (for `cascade why` and `cascade replay`).
    rules: {
      why: async (space, id, { object }, actor) => {
        requireAdmin(actor.identity, 'why', 'rules');
        return reply(toJson(await why(space, id === '*' ? null : id, object ?? null, actor.identity.username)));
      },
      recording: async (space, id, _request, actor) => {
        requireAdmin(actor.identity, 'recording', 'rules');
        const found = await findRecording(space, id);
        if (!found) throw apiError('cascade.resource.not.found', `/recordings/${id}`);
        return reply(JSON.stringify({ ...found, _id: undefined, ars_version: undefined }));
      },
    },
  },
};
