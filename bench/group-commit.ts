// Group commit made by hand, for the baselines: what comes while a group is under way is the next group; two are under way at most.

/** @param write stores a group as a whole @returns puts one document into the next group; gives it back once it is stored */
export function groupCommit<T>(write: (group: readonly T[]) => Promise<unknown>): (document: T) => Promise<T> {
  let waiting: { document: T; resolve: (document: T) => void; reject: (error: unknown) => void }[] = [];
  let underWay = 0;
  const take = (): void => {
    if (underWay >= 2 || waiting.length === 0) return;
    const group = waiting;
    waiting = [];
    underWay++;
    write(group.map(({ document }) => document))
      .then(
        () => group.forEach(({ document, resolve }) => resolve(document)),
        (error: unknown) => group.forEach(({ reject }) => reject(error)),
      )
      .finally(() => {
        underWay--;
        take();
      });
  };
  return (document) =>
    new Promise((resolve, reject) => {
      waiting.push({ document, resolve, reject });
      if (waiting.length === 1) setImmediate(take);
    });
}
