// What tests of conversions share.
import { decodeInner, encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { RunRequest } from '../../sandbox/index.ts';

/** Runs that convert each value like this, or refuse it (undefined). */
export function convertingRuns(convert: (value: Value) => Value | undefined) {
  const refused = { error: { code: 'code.bad', message: 'bad', params: [] } };
  const runs = {
    ...endlessRuns().runs,
    sandbox: {
      start({ argsJson, observer }: Pick<RunRequest, 'argsJson' | 'observer'>) {
        const [values = []] = decodeInner(argsJson) as Value[][];
        const outcomes = values.map(convert).map((value): Value => (value === undefined ? refused : { value }));
        observer.done(encodeInner(outcomes));
        return argsJson;
      },
    },
  };
  return { runs };
}

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
