// Facts about the installation for programs (builtins.md 19): its address, and what it was built from.
import { existsSync, readFileSync } from 'node:fs';

export interface Build {
  readonly version: string;
  /** ISO text; null where nothing was built (the sources run as they are). */
  readonly date: string | null;
  readonly commit: string | null;
}
export interface About {
  /** The address by which clients reach the service, without a final slash. It is known once the service listens. */
  serverUri(): string;
  readonly build: Build;
  /** Of the installation, for ever the same; absent where nothing is stored. */
  readonly nodeUuid?: string;
}

/** What the build has left beside the compiled files, else the version of the sources. */
export function readBuild(): Build {
  const left = new URL('../../build-info.json', import.meta.url);
  if (existsSync(left)) return JSON.parse(readFileSync(left, 'utf8')) as Build;
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  return { version, date: null, commit: null };
}
