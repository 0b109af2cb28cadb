// The command lines that put a program into namespaces of its own. Pure.
import type { Level } from './levels.ts';

export interface Arrangement {
  level: Level;
  /** What the log calls it. */
  name: string;
  /** @param filterDescriptor where the filter of system calls can be read from */
  wrap(program: string, args: readonly string[], filterDescriptor: number): { program: string; args: string[] };
  hasFilter: boolean;
  /** It has users of its own, among which it cannot become another. */
  ownUsers: boolean;
}

export interface HostEnvironment {
  bwrap: string | null;
  unshare: string | null;
  isRoot: boolean;
  /** Of files and folders that the process reads: where they are, and where it looks for them. */
  readable: readonly [file: string, path: string][];
  hasFilter: boolean;
}

const direct: Arrangement['wrap'] = (program, args) => ({ program, args: [...args] });

/** The strongest first; the last one always works. */
export function arrangements({ bwrap, unshare, isRoot, readable, hasFilter }: HostEnvironment): Arrangement[] {
  const all: Arrangement[] = [];
  const users = isRoot ? [false, true] : [true];
  if (bwrap && hasFilter)
    // In a container the engine's filter of system calls may forbid to set a name: then the process can read the container's.
    for (const hasName of [true, false])
      for (const ownUsers of users)
        all.push({
          level: 'filtered',
          name: `bubblewrap${ownUsers ? ', user namespace' : ''}${hasName ? '' : ", the host's name"}`,
          hasFilter: true,
          ownUsers,
          wrap: (program, args, filterDescriptor) => ({
            program: bwrap,
            args: [...bubblewrapArgs(ownUsers, hasName, readable), '--seccomp', String(filterDescriptor), '--', program, ...args],
          }),
        });
  if (unshare)
    for (const ownUsers of users)
      all.push({
        level: 'namespaces',
        name: `unshare${ownUsers ? ', user namespace' : ''}`,
        hasFilter: false,
        ownUsers,
        wrap: (program, args) => ({ program: unshare, args: [...unshareArgs(ownUsers), '--', ...FIRST_PROCESS, program, ...args] }),
      });
  return [...all, { level: 'none', name: 'a process of its own', hasFilter: false, ownUsers: false, wrap: direct }];
}

function bubblewrapArgs(ownUsers: boolean, hasName: boolean, readable: HostEnvironment['readable']): string[] {
  // As root without a user namespace it keeps the right to become somebody else, which it does before it serves.
  const user = ownUsers
    ? ['--unshare-user', '--uid', '65534', '--gid', '65534']
    : ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'];
  return [
    ...user,
    ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session', '--clearenv', ...(hasName ? ['--hostname', 'sandbox'] : [])],
    ...readable.flatMap(([file, path]) => ['--ro-bind', file, path]),
    ...['--remount-ro', '/', '--chdir', '/'],
  ];
}

/** Waits for the program, as the first process of its namespace: signals that such a one sends itself, or that abort it, do nothing. */
const FIRST_PROCESS = ['/bin/sh', '-c', '"$@"; exit $?', 'sh'];

function unshareArgs(ownUsers: boolean): string[] {
  // The user stays who it is, so that exec() leaves it no capability in the new namespace.
  return [...(ownUsers ? ['--user', '--map-current-user'] : []), '--ipc', '--pid', '--net', '--uts', '--fork', '--kill-child=SIGKILL'];
}
