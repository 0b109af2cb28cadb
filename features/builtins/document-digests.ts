// Digests of documents (builtins.md 18). The host makes them, piece by piece: a program need not hold what it wants the digest of.
import { createHash } from 'node:crypto';
import { DIGESTS, documentReference } from '../../stdlib/builtins/index.ts';
import { encodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import type { HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { DOCUMENTS, readInPieces } from '../documents/index.ts';

/** Bounds the time of the main thread that one call takes. */
const MOST_BYTES = 64 * 1024 * 1024;

const digest =
  (name: string): HostBuiltin =>
  async (space, [resourceRef = null], actor) => {
    const path = documentReference(resourceRef as string | ObjectValue, 'resourceRef');
    requireRight(space, DOCUMENTS, 'select', actor.identity);
    const hash = createHash(name);
    await readInPieces(space, path.slice('/documents/'.length), actor, MOST_BYTES, (piece) => hash.update(piece));
    return { ok: encodeInner(hash.digest('base64')) };
  };

export const documentDigests: HostBuiltins = Object.fromEntries(Object.keys(DIGESTS).map((name) => [`Hash.${name}`, digest(name)]));
