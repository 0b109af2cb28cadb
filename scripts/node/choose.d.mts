/** The choice of the Node that goes on; see choose.mjs. */
export function choose(
  version: string,
  named: string | undefined,
  nativesLoad: () => boolean,
): { use: 'this' } | { use: 'named'; file: string } | { use: 'pinned' };
