// For tests of work that gives way: how often others had their turn.

/** Counts the turns of the event loop until it is disposed of. Work that waits for nothing else and does not give way leaves one at most. */
export function countTurns(): { readonly turn: number } & Disposable {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  return {
    get turn() {
      return turn;
    },
    [Symbol.dispose]: () => void (isOver = true),
  };
}
