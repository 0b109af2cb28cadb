// How the verifier says no.
import type * as es from 'estree';

export class Refused extends Error {}

/** Tells what was found where it may not stand; offsets are of the emitted text. */
export function refuse(node: es.Node | { readonly start: number } | null | undefined, what: string): never {
  const { start } = (node ?? {}) as { start?: number };
  throw new Refused(start === undefined ? what : `${what} (at ${start})`);
}
