// Types: the schema of a namespace's instances.
import type { Feature } from '../../resources/catalog/index.ts';
import { definitionJson } from '../../resources/definitions/index.ts';
import { reply } from '../../resources/requests/index.ts';
import { renameType } from './rename-type.ts';
import { TYPES } from './types-kind.ts';

export const types: Feature = {
  name: 'types',
  kinds: [TYPES],
  commands: {
    types: { rename: async (space, id, { object }, actor) => reply(definitionJson(await renameType(space, TYPES, id, object, actor))) },
  },
};
