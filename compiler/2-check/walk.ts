// The children of any node of the tree, in the order of the text: for passes that care for a few types only.
import type { Span } from '../ast.ts';

export type AnyNode = Span & { readonly type: string };

/** @returns the nodes directly below; value sets and options that are plain records are looked through */
export function childrenOf(node: object): AnyNode[] {
  const found: AnyNode[] = [];
  for (const key in node) collect((node as Record<string, unknown>)[key], found); // plain objects, whose own members are all there is
  return found;
}

function collect(value: unknown, found: AnyNode[]): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) for (const item of value) collect(item, found);
  else if (typeof (value as AnyNode).type === 'string') found.push(value as AnyNode);
  else for (const key in value) collect((value as Record<string, unknown>)[key], found);
}
