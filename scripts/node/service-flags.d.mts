export function serviceFlags(processors?: number, given?: readonly string[]): string[];
