// Configuration values of the namespace (builtins.md 28.2), in ArsResourceConfig.
import { langError } from '../../stdlib/errors.ts';
import { encodeInner, getOwn } from '../../stdlib/values/index.ts';
import { read } from '../../resources/instances/index.ts';
import { RESOURCE_CONFIGS } from './service-types.ts';
import type { HostBuiltins } from '../../resources/catalog/index.ts';

export const resourceConfig: HostBuiltins = {
  'ResourceConfig.get': async (space, [property = null]) => {
    const [found] = await read(space, RESOURCE_CONFIGS, { name: String(property) }, 1);
    if (!found) throw langError('cascade.resourceconfig.unknown', property);
    return { ok: encodeInner(getOwn(found, 'value')) };
  },
};
