/** What the worker of a test file wrote when its tests were over (watch.ts). */
export interface Verdict {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  /** Milliseconds of the processor that its process and those it started have used for it. */
  readonly cpuMs?: number;
}
/** A process that its watchdog ended: it hung, or its tests were over and it was idle, held things open or did not answer (watchdog.mjs). */
export interface GivenUp {
  readonly file: string;
  readonly kind: 'hung' | 'idle' | 'open' | 'blocked';
  readonly detail?: string;
}
/** What vitest's own process knew at the end (report.ts). */
export interface Report {
  readonly modules: readonly { file: string; state: string }[];
  readonly failed: readonly string[];
  readonly retried: readonly string[];
  readonly unhandled: readonly string[];
}
export interface Run {
  readonly status: number | null;
  readonly signal: string | null;
  /** Why vitest was killed by its runner, if it was. */
  readonly overdue: string | null;
  /** Test files in the folders, relative to the root. */
  readonly found: readonly string[];
  readonly report: Report | null;
  readonly verdicts: readonly Verdict[];
  readonly givenUp: readonly GivenUp[];
  readonly quarantined: readonly string[];
}
export function judge(run: Run): { reasons: string[]; notices: string[] };
