// The sandbox: user code runs in isolates inside a supervised process of its own, never in ours. This index is the folder's door.
export { LEVELS, type Level } from './confinement/index.ts';
export { openSandbox } from './sandbox.ts';
export type {
  OpenRun,
  Program,
  Reply,
  ResolvedProcedure,
  RunFailure,
  RunObserver,
  RunEvent,
  RunOptions,
  RunRequest,
  Sandbox,
  SandboxOptions,
  SandboxStats,
  WireError,
} from './types.ts';
