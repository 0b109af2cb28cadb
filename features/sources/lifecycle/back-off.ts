// The back-off of a source that cannot connect (integrations.md 1.2). Pure.

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;
const AUTHENTICATION_MS = 60_000;
/** A connection that lasted so long counts as a success: the next failure starts a new series. */
export const LASTING_MS = 60_000;
/** A source that failed for so long, and at least twice, is unavailable. */
export const UNAVAILABLE_MS = 300_000;
const JITTER = 0.2;

/**
 * @param failures consecutive failed attempts, 1 or more
 * @param isAuthentication the other side refused the credentials, for the first time in this series
 * @param random from 0 to 1
 */
export function delayMs(failures: number, isAuthentication: boolean, random: number): number {
  const doubled = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
  const least = isAuthentication ? Math.max(doubled, AUTHENTICATION_MS) : doubled;
  return Math.round(least * (1 + JITTER * (2 * random - 1)));
}
