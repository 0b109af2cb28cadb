// For tests of long work beside a store, whose answers leave others turns anyhow: how many slices it took.
import { SliceTurns } from '../slices.ts';

/** Counts the slices of all works that begin until it is disposed of. */
export function countSlices(): { readonly slices: number } & Disposable {
  const { begin } = SliceTurns.prototype;
  let slices = 0;
  SliceTurns.prototype.begin = function (owner) {
    const work = begin.call(this, owner);
    return {
      next: () => {
        slices++;
        return work.next();
      },
      [Symbol.dispose]: () => work[Symbol.dispose](),
    };
  };
  return {
    get slices() {
      return slices;
    },
    [Symbol.dispose]: () => void (SliceTurns.prototype.begin = begin),
  };
}
