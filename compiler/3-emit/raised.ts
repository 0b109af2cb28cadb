// What a text may set going: the event paths of its statements, as far as these name what they change. Procedures that it calls are not
// followed, names in variables are not known.
import type { Definition, Ref, Statement } from '../ast.ts';
import type { Names } from '../2-check/index.ts';
import { childrenOf } from '../2-check/walk.ts';

const written = (target: Ref): string | null =>
  target.type === 'QualifiedName' ? target.text : target.type === 'String' ? target.value : null;
const onType = (target: Ref, names: Names, ...operations: string[]): string[] => {
  const name = written(target);
  return name === null ? [] : operations.map((operation) => `/types/${names.type(name)}/${operation}`);
};

/** Of each kind of statement the events that it raises itself; null: none. */
const raised: {
  readonly [T in Statement['type']]: ((node: Extract<Statement, { type: T }>, names: Names) => string[]) | null;
} = {
  Insert: ({ target }, names) => onType(target, names, 'insert'),
  Upsert: ({ target }, names) => onType(target, names, 'insert', 'update'),
  Update: ({ target }, names) => onType(target, names, 'update'),
  Delete: ({ target }, names) => onType(target, names, 'delete'),
  PublishRequest: ({ target }, names) => onType(target, names, 'request'),
  Publish: ({ kind, target }, names) => {
    const name = written(target);
    if (name === null || kind === 'source') return [];
    return [
      kind === 'topic' ? `/topics${names.topic(name)}/publish` : `/services/${names.serviceEvent(name.replace(/^\/services\//, ''))}`,
    ];
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
export function raisedPaths(definition: Definition, names: Names): string[] {
  const found = new Set<string>();
  const visit = (node: { readonly type: string }): void => {
    const paths = Object.hasOwn(raised, node.type) ? raised[node.type as Statement['type']] : null;
    for (const path of paths?.(node as never, names) ?? []) found.add(path);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(definition);
  return [...found];
}
