// How far the system lets a process be shut in, from nothing to everything.
//   none        Node's permission model alone, which native code does not ask
//   limits      no descriptor can be opened any more: no file, no socket, no library of another program; a user of its own where we are root
//   namespaces  and it sees no network, no other process, no shared memory
//   filtered    and it has a file system with nothing but its own code, and a list of system calls

export const LEVELS = ['none', 'limits', 'namespaces', 'filtered'] as const;
export type Level = (typeof LEVELS)[number];

export const isAtLeast = (level: Level, wanted: Level): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
