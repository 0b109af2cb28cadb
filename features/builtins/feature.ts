// Host built-ins that belong to no other feature.
import type { Feature } from '../../resources/catalog/index.ts';
import { documentDigests } from './document-digests.ts';
import { documentTexts } from './document-texts.ts';
import { events } from './events.ts';
import { identity } from './identity.ts';
import { installation } from './installation.ts';
import { references } from './references.ts';
import { resourceApi } from './resource-api.ts';
import { tokens, tokensByDocument } from './tokens.ts';

export const builtins: Feature = {
  name: 'builtins',
  builtins: {
    ...identity,
    ...events,
    ...references,
    ...tokens,
    ...tokensByDocument,
    ...documentTexts,
    ...documentDigests,
    ...resourceApi,
    ...installation,
  },
};
