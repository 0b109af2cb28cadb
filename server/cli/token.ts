// `cascade token`: prints the token of a new session, for other programs.
import { openRemote, type RemoteOptions } from './remote.ts';
import type { Terminal } from './terminal.ts';

export async function printToken(options: RemoteOptions, terminal: Terminal): Promise<number> {
  const { token } = await openRemote(options, terminal.ask);
  terminal.out(`${token}\n`);
  return 0;
}
