/**
 * The folder for what tests write.
 * @param env a `TMPDIR` that somebody has set is kept
 * @param room bytes that files in a folder may take
 */
export function fastFolder(env?: NodeJS.ProcessEnv, folder?: string, room?: (folder: string) => number): string;
