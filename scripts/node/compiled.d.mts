export function keepCompiled(env?: NodeJS.ProcessEnv): void;
export function trimCompiled(env?: NodeJS.ProcessEnv, mostBytes?: number): void;
