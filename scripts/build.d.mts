/** Brings dist/ up to date; see build.mjs. */
export function build(log?: (line: string) => void): Promise<{ written: number }>;
