export interface Choice {
  /** Names of steps; all when empty. */
  readonly only: readonly string[];
  /** For each step that explores. */
  readonly minutes: number;
  readonly seed: number;
  readonly list: boolean;
}
export interface Step {
  readonly name: string;
  readonly what: string;
  readonly command: readonly string[];
  readonly times?: number;
  readonly env?: Readonly<Record<string, string>>;
}
export function plan(choice: Omit<Choice, 'list'>): Step[];
/** From the command line's arguments. */
export function choose(args: readonly string[], randomSeed: number): (Choice & { error?: undefined }) | { error: string };
export function usage(): string;
