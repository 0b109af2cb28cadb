// Which version of MongoDB is asked for: by the machine, by the files that are there already, and by what our tests run against.
import { release } from 'node:os';

/** Below it, parts of what we use of transactions and pipelines are missing. */
export const OLDEST_MAJOR = 6;

/** What the tests run against. */
const TESTED_VERSIONS = '6.0';

export const FETCHED_IS_FOR_TRYING =
  `a fetched MongoDB is for trying Cascade out, as nobody updates it; for lasting data run a replica set of your own with --mongo URI ` +
  `(tested with MongoDB ${TESTED_VERSIONS})`;

/** Patch releases that are kept at MongoDB's own server; both have the fix of CVE-2025-14847. */
const VERSION_8 = '8.0.29';
const VERSION_7 = '7.0.43';

/** Of a version (`7.0.43`) or of a featureCompatibilityVersion (`7.0`). */
export const majorOf = (version: string): number => Number.parseInt(version, 10);

/**
 * Whether a mongod can open files of that featureCompatibilityVersion: it does those of its own major version and of the one before.
 * @param compatibility undefined: there are no files yet, or nothing is known about them
 */
export function opens(version: string, compatibility: string | undefined): boolean {
  if (compatibility === undefined) return true;
  const ahead = majorOf(version) - majorOf(compatibility);
  return ahead === 0 || ahead === 1;
}

/**
 * The versions to download, in the order in which they are tried. MongoDB 8 does not start on Linux from 6.19 on (its allocator crashes there;
 * the first kernel that is mended, 7.0.14, can't be told from one of a distribution that calls itself 7.0.0 for years).
 */
export function versionsToDownload(compatibility?: string, platform = process.platform, kernel = release()): string[] {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  const isEightBroken = platform === 'linux' && (major > 6 || (major === 6 && minor >= 19));
  return [VERSION_8, VERSION_7].filter((version) => !(isEightBroken && version === VERSION_8) && opens(version, compatibility));
}
