// The end of a run whose error names Sequences: they are read, as those of a result are, so that the client and the record have Arrays.
import { CascadeError } from '../errors.ts';
import type { Value } from '../values/index.ts';
import { holds, materialized, refuseGiant } from './operations.ts';
import type { Run } from './run.ts';
import { Sequence } from './sequence.ts';
import type { Steps } from './steps.ts';
import { failItem } from './wire-errors.ts';

const isSequence = (value: Value): boolean => value instanceof Sequence;

export const namesSequence = (error: unknown): error is CascadeError => error instanceof CascadeError && holds(error.params, isSequence, 0);

/** The `fail` item. It comes whatever becomes of the reading: a Sequence that cannot be read is named by its type. */
export function* failing(run: Run, error: CascadeError): Steps<string> {
  const params: Value[] = [];
  for (const param of error.params) params.push(run.dead ? param : yield* read(run, param));
  return failItem(run, error, params);
}

function* read(run: Run, param: Value): Steps<Value> {
  try {
    refuseGiant(run, param);
    return yield* materialized(run, param);
  } catch {
    return param;
  }
}
