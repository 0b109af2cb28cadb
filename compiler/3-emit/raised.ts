// What a text may set going: the event paths of its statements, as far as these name what they change. Procedures that it calls are not
// followed, names in variables are not known.
import type { Definition, Ref, Statement } from '../ast.ts';
import { childrenOf } from '../2-check/walk.ts';

const nameOf = (target: Ref): string | null =>
  target.type === 'QualifiedName' ? target.text : target.type === 'String' ? target.value : null;
const onType = (target: Ref, ...operations: string[]): string[] => {
  const name = nameOf(target);
  return name === null ? [] : operations.map((operation) => `/types/${name}/${operation}`);
};

/** Of each kind of statement the events that it raises itself; null: none. */
const raised: { readonly [T in Statement['type']]: ((node: Extract<Statement, { type: T }>) => string[]) | null } = {
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
  Var: null,
  Assign: null,
  If: null,
  For: null,
  While: null,
  Try: null,
  Return: null,
  Create: null,
  Drop: null,
  Recommendations: null,
  Recommend: null,
  Select: null,
  Execute: null,
  Filter: null,
  Map: null,
  ExpressionStatement: null,
};

/** Event paths that the text may raise events on, each once. */
export function raisedPaths(definition: Definition): string[] {
  const found = new Set<string>();
  const visit = (node: { readonly type: string }): void => {
    const paths = Object.hasOwn(raised, node.type) ? raised[node.type as Statement['type']] : null;
    for (const path of paths?.(node as never) ?? []) found.add(path);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(definition);
  return [...found];
}
