// What tests of conversions share.

/** Runs whose programs never end by themselves, and the arguments that they were started with. */
export function endlessRuns() {
  const started: string[] = [];
  const dropped: string[] = [];
  const runs = {
    clock: { now: () => 0 },
    limits: () => ({}),
    executionTimes: { begin: () => undefined, end: () => undefined },
    logLevel: () => 0,
    mapOf: () => null,
    release: () => undefined,
    committer: { submit: async () => undefined },
    sandbox: {
      start({ argsJson }: { argsJson: string }) {
        started.push(argsJson);
        return argsJson;
      },
      drop: (run: string) => void dropped.push(run),
    },
  };
  return { runs, started, dropped };
}
