// setTimeout for any length of time.

/** setTimeout takes 24 days at most, and calls at once where it is asked for more. */
const LONGEST_MS = 2 ** 31 - 1;

/** Calls after that time, which the process does not stay for. */
export function longTimeout(call: () => void, ms: number): { cancel(): void } {
  let leftMs = Math.max(0, ms);
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const stepMs = Math.min(leftMs, LONGEST_MS);
    leftMs -= stepMs;
    timer = setTimeout(() => (leftMs > 0 ? arm() : call()), stepMs);
    timer.unref();
  };
  arm();
  return { cancel: () => clearTimeout(timer) };
}
