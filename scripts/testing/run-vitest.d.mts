export interface RunOptions {
  /** Only test files whose paths hold one of these. */
  readonly patterns?: readonly string[];
  readonly args?: readonly string[];
  readonly root?: string;
  readonly found?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly stdio?: 'inherit' | 'pipe';
  /** For vitest to end once it has reported, and for the whole run. */
  readonly endMs?: number;
  readonly runMs?: number;
}
/** Green when there are no reasons. `output` is empty unless `stdio` is 'pipe'. */
export function runVitest(options?: RunOptions): Promise<{ reasons: string[]; notices: string[]; output: string }>;
/** Paths of all `*.test.ts` below the root, relative to it, whatever vitest's configuration says of them. */
export function findTestFiles(root: string, patterns?: readonly string[]): string[];
