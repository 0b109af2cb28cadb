// The network as one connection of a source has it: what it has left open does not outlive it. A library may wait for its peer's last word for as
// long as the peer lives, and a broker that is stuck says none.
import type { Socket } from 'node:net';
import type { Outlet } from '../../../platform/egress/index.ts';

/** Time for the last bytes of a connection that has closed. */
const LEFT_OPEN_MS = 5_000;

/** @param over aborted when the connection has closed, or had its time to */
export function outletUntil(outlet: Outlet, over: AbortSignal): Outlet {
  const open = new Set<Socket>();
  const endLeft = (): void => {
    const late = setTimeout(() => {
      for (const socket of open) socket.destroy();
    }, LEFT_OPEN_MS);
    late.unref();
  };
  over.addEventListener('abort', endLeft, { once: true });
  const kept = (socket: Socket): Socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (over.aborted) endLeft(); // it came to stand when nobody waited for it any more
    return socket;
  };
  return {
    checkLiteral: (host) => outlet.checkLiteral(host),
    connect: async (target) => kept(await outlet.connect(target)),
    secure: async (plain, target) => kept(await outlet.secure(plain, target)),
    answerRoom: () => outlet.answerRoom(),
    get open() {
      return outlet.open;
    },
  };
}
