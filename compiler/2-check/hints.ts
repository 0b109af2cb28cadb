// "Did you mean": the declared name that is nearest to a mistyped one.

/** The hint of a diagnostic, or undefined when nothing is near. */
export function didYouMean(name: string, names: Iterable<string>): string | undefined {
  const found = nearest(name, names);
  return found === undefined ? undefined : `did you mean '${found}'?`;
}

/** @returns the nearest of `names` within a third of the length (and at most 3 edits), or undefined */
function nearest(name: string, names: Iterable<string>): string | undefined {
  const bound = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
  let best: string | undefined;
  let least = bound + 1;
  for (const candidate of names) {
    if (candidate === name || Math.abs(candidate.length - name.length) > bound) continue;
    const edits = candidate.toLowerCase() === name.toLowerCase() ? 0 : distance(name, candidate);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Edits that turn one text into the other: insert, delete, replace, or swap of two neighbours. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let edits = Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row[j] = edits;
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
