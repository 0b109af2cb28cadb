/** The packages that are machine code; see natives.mjs. */
export interface Fault {
  text: string;
  /** The file is not the one that an installation puts there. */
  isForeign: boolean;
}
export function faultsOfInstalled(root: string): Record<'isolated-vm' | 'uWebSockets.js', Fault | null>;
