// The door of transport/: sockets that speak HTTP and WebSocket, by one of two libraries behind one interface.
import type { Transport, TransportKind } from './types.ts';

export { canonicalAddress, isLoopback } from './addresses.ts';
export { requireFreePort } from './port.ts';
export {
  type AnswerHead,
  type Exchange,
  HeaderBlock,
  type HeaderField,
  type PeerSocket,
  type RequestHead,
  type SocketEvents,
  type Transport,
  type TransportKind,
} from './types.ts';

const OPENINGS: Record<TransportKind, () => Promise<Transport>> = {
  uws: async () => (await import('./uws.ts')).openUws(),
  node: async () => (await import('./node.ts')).openNode(),
};

/**
 * @param kind absent: uWebSockets.js where it can be loaded, else Node's own
 * @param onFallback called when Node's own is used without having been asked for
 * @throws Error when the requested library cannot be loaded
 */
export async function openTransport(
  kind: TransportKind | undefined,
  onFallback: (reason: unknown) => void,
  openings = OPENINGS,
): Promise<Transport> {
  if (kind === 'node') return openings.node();
  try {
    return await openings.uws();
  } catch (error) {
    if (kind === 'uws')
      throw new Error(
        'uWebSockets.js does not load on this machine (there is no binary for its platform and version of Node): use --http node.',
        {
          cause: error,
        },
      );
    onFallback(error);
    return openings.node();
  }
}
