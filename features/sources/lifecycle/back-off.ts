// How long a source waits before it tries again (integrations.md 1.2). Pure.

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;
const AUTHENTICATION_MS = 60_000;
/** A connection that lasted so long was a success: the next failure begins anew. */
export const LASTING_MS = 60_000;
/** Without success for so long, and after two attempts at least, a source is called unavailable. */
export const UNAVAILABLE_MS = 300_000;
const JITTER = 0.2;

/**
 * @param failures attempts that failed one after the other, 1 or more
 * @param isAuthentication the other side refused the credentials, for the first time in this row
 * @param random from 0 to 1
 */
export function delayMs(failures: number, isAuthentication: boolean, random: number): number {
  const doubled = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
  const least = isAuthentication ? Math.max(doubled, AUTHENTICATION_MS) : doubled;
  return Math.round(least * (1 + JITTER * (2 * random - 1)));
}
