// The API of one namespace as an OpenAPI 3.1 document. It has no lists of its own: addresses and methods are those of the routes,
// parameters those that are parsed, resources and procedures those that the engine names.
import { toJson } from '../../../model/values/index.ts';
import { inSlices } from '../../../platform/structures/index.ts';
import type { ApiDescription } from '../../../resources/api.ts';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { SHARED, SHARED_SCHEMAS } from './components.ts';
import { plainPaths } from './plain-paths.ts';
import { resourcePaths } from './resource-paths.ts';
import { schemasOf } from './schemas.ts';

type Entry = readonly [string, Value];

/**
 * The document as JSON, in texts that follow one another; equal descriptions give equal texts. It is written in slices and never becomes one
 * text, as a namespace may have thousands of types.
 */
export async function openApiTexts(description: ApiDescription): Promise<string[]> {
  const write = (entries: Iterable<Entry>): Promise<Map<string, string>> => written(description.namespace, entries);
  const paths = await write(pathsOf(description));
  const schemas = await write([...schemasOf(description.resources), ...Object.entries(SHARED_SCHEMAS)]);
  const [head, shared] = [await write(Object.entries(headOf(description))), await write(Object.entries(SHARED))];
  return [
    '{',
    ...membersOf(head),
    ',"paths":{',
    ...membersOf(paths),
    '},"components":{',
    ...membersOf(shared),
    ',"schemas":{',
    ...membersOf(schemas),
    '}}}',
  ];
}

function* pathsOf(description: ApiDescription): Generator<Entry> {
  yield* Object.entries(plainPaths());
  yield* resourcePaths(description);
}

/** Each value as JSON, by its name; of several with one name the last. */
async function written(owner: string, entries: Iterable<Entry>): Promise<Map<string, string>> {
  function* texts(): Generator<[string, string]> {
    for (const [name, value] of entries) yield [name, toJson(value)];
  }
  return new Map(await inSlices(owner, texts()));
}

const membersOf = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].map(([name, text], index) => `${index === 0 ? '' : ','}${JSON.stringify(name)}:${text}`);

function headOf({ namespace, resources }: ApiDescription): ObjectValue {
  const tags = resources.map(({ name }): Value => ({ name }));
  return {
    openapi: '3.1.0',
    info: {
      title: `Cascade, namespace ${namespace}`,
      version: '1',
      description:
        'Types, instances, rules and procedures behind one set of operations. Paths are taken as they come; ids may hold slashes, escaped or not. ' +
        'Any request may name another namespace with the header X-Target-Namespace, and give its own X-Request-Id. Errors are arrays of ' +
        '{code, message, params}; programs go by the code. Events come over WebSocket, which /api/v1/asyncapi.json describes.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { tokenParameter: [] }],
    tags: [{ name: 'service', description: 'Sessions, batches, health' }, ...tags],
  };
}
