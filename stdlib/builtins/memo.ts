// What a text means, kept for the next time: patterns of messages, numbers and dates are the same few in most programs.

const MOST_KEPT = 256;
/** Longer texts are read again each time. */
const LONGEST_KEPT = 512;

/** @param read pure, and what it gives is never changed; a throw is not kept */
export function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let found = known.get(text);
    if (found !== undefined) return found;
    found = read(text);
    if (text.length > LONGEST_KEPT) return found;
    if (known.size >= MOST_KEPT) known.clear();
    known.set(text, found);
    return found;
  };
}
