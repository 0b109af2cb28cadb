// The API of one namespace as an OpenAPI 3.1 document. Nothing is listed here that is listed elsewhere: addresses and methods are those of the
// routes, parameters those that are read, resources and procedures those that the engine names.
import type { ApiDescription } from '../../../resources/api.ts';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { components } from './components.ts';
import { plainPaths } from './plain-paths.ts';
import { resourcePaths } from './resource-paths.ts';
import { schemasOf } from './schemas.ts';

/** Pure: the same description gives the same document. */
export function openApiDocument(description: ApiDescription): ObjectValue {
  const { namespace, resources } = description;
  const tags = resources.map(({ name }): Value => ({ name }));
  return {
    openapi: '3.1.0',
    info: {
      title: `Cascade, namespace ${namespace}`,
      version: '1',
      description:
        'Types, instances, rules and procedures behind one set of operations. Paths are taken as they come; ids may hold slashes, escaped or not. ' +
        'Any request may name another namespace with the header X-Target-Namespace, and give its own X-Request-Id. Errors are arrays of ' +
        '{code, message, params}; programs go by the code. Events come over WebSocket, which this document does not describe.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { tokenParameter: [] }],
    tags: [{ name: 'service', description: 'Sessions, batches, health' }, ...tags],
    paths: { ...plainPaths(), ...resourcePaths(description) },
    components: components(schemasOf(resources)),
  };
}
