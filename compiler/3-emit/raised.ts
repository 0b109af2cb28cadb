// What a text may set going: the event paths of its statements, as far as these name what they change. Procedures that it calls are not
// followed, names in variables are not known.
import type { Definition, Delete, Insert, Publish, PublishRequest, Ref, Update, Upsert } from '../ast.ts';
import { childrenOf } from '../2-check/walk.ts';

type Raising = Insert | Upsert | Update | Delete | Publish | PublishRequest;

const nameOf = (target: Ref): string | null =>
  target.type === 'QualifiedName' ? target.text : target.type === 'String' ? target.value : null;
const onType = (target: Ref, ...operations: string[]): string[] => {
  const name = nameOf(target);
  return name === null ? [] : operations.map((operation) => `/types/${name}/${operation}`);
};

const raised: { readonly [T in Raising['type']]: (node: Extract<Raising, { type: T }>) => string[] } = {
  Insert: ({ target }) => onType(target, 'insert'),
  Upsert: ({ target }) => onType(target, 'insert', 'update'),
  Update: ({ target }) => onType(target, 'update'),
  Delete: ({ target }) => onType(target, 'delete'),
  PublishRequest: ({ target }) => onType(target, 'request'),
  Publish: ({ kind, target }) => {
    const name = nameOf(target);
    if (name === null || kind === 'source') return [];
    return [kind === 'topic' ? `/topics${name}/publish` : `/services/${name.replace(/^\/services\//, '')}`];
  },
};

/** Event paths that the text may raise events on, each once. */
export function raisedPaths(definition: Definition): string[] {
  const found = new Set<string>();
  const visit = (node: { readonly type: string }): void => {
    if (Object.hasOwn(raised, node.type)) for (const path of raised[node.type as Raising['type']](node as never)) found.add(path);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(definition);
  return [...found];
}
