/**
 * The folder for what tests write.
 * @param env a `TMPDIR` that somebody has set is kept
 * @param memoryBytes that programs may still take
 */
export function fastFolder(env?: NodeJS.ProcessEnv, folder?: string, memoryBytes?: number): string;
