export interface KeptSeed {
  readonly file: string;
  readonly seed: number;
}
/** Test files whose inputs are random, relative to the root. */
export function randomTests(root: string): string[];
/** The environment that gives a test file this seed. */
export function seeded(file: string, seed: number): Record<string, string>;
/** Seeds that have found something, each for its file. */
export function readSeeds(root: string): KeptSeed[];
export function keepSeed(root: string, file: string, seed: number): void;
