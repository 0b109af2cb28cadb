// The choice of the Node that goes on, as a pure function of what is known.

/** The oldest that does: from here on Node 22 loads ES modules by require, which packages of ours rely on. */
export const OLDEST = [22, 12];

/**
 * @param {string} version of the running Node, as process.version gives it
 * @param {string | undefined} named what CASCADE_NODE says; an empty text counts as nothing
 * @param {() => boolean} nativesLoad whether the native packages load in the running Node; asked only where the answer decides
 * @returns {{ use: 'this' } | { use: 'named', file: string } | { use: 'pinned' }}
 */
export function choose(version, named, nativesLoad) {
  if (named) return { use: 'named', file: named };
  const { major, isNewEnough } = judge(version);
  if (!isNewEnough) return { use: 'pinned' };
  return major === OLDEST[0] || nativesLoad() ? { use: 'this' } : { use: 'pinned' };
}

/** @param {string} version such as v22.23.3 */
export function judge(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return { major, isNewEnough: major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]) };
}
