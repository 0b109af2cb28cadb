/** The Node of ours; see pinned.mjs. */
export function namedNode(file: string): string;
export function pinnedNode(
  say: (line: string) => void,
  options?: { platform?: string; cache?: string; fetch?: (folder: string, wanted: Pin) => void },
): string;

export interface Pin {
  package: string;
  version: string;
  integrity: string;
}
