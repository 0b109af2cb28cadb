// Whether two trees mean the same: equal but for the places of their nodes.

const isPlace = (name: string): boolean => name === 'start' || name === 'end' || name === 'span' || name.endsWith('Span');

export function sameTree(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return Object.is(a, b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameTree(item, b[index]));
  const names = Object.keys(a).filter((name) => !isPlace(name));
  return names.every((name) => sameTree((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]));
}
