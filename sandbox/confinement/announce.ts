// What the start says of the confinement, and when it refuses.
import type { Logger } from 'pino';
import type { Confinement } from './confinement.ts';
import { isAtLeast, type Level } from './levels.ts';

/** @throws when it is less than what is required */
export function announce({ level, means }: Confinement, log: Logger, required: Level): void {
  const about = { confinement: level, means }; // `level` is that of the line
  if (!isAtLeast(level, required))
    throw new Error(
      `the sandbox has to be confined to the level '${required}', and this system allows '${level}' (${means}): ` +
        'install bubblewrap and util-linux, or allow user namespaces',
    );
  if (level === 'none')
    log.error(about, 'THE SANDBOX IS NOT CONFINED by the operating system: who breaks out of it has the rights of this service');
  else if (level === 'filtered') log.info(about, 'the sandbox is confined');
  else log.warn(about, 'the sandbox is confined by weaker means: install bubblewrap, or allow user namespaces');
}
