// The end of a run whose error names Sequences: they are read, as those of a result are, so that the client and the record have Arrays.
import { CascadeError } from '../errors.ts';
import type { Value } from '../values/index.ts';
import { LIMITS } from './limits.ts';
import { holds, materialized } from './operations.ts';
import type { Run } from './run.ts';
import { Sequence } from './sequence.ts';
import type { Steps } from './steps.ts';
import { misfit } from './weight.ts';
import { failItem } from './wire-errors.ts';

const isSequence = (value: Value): boolean => value instanceof Sequence;
/** What is too large or too deep is shown in part, and not looked through. */
const toRead = (param: Value): boolean => misfit(param, LIMITS.weight) === null && holds(param, isSequence);

export const namesSequence = (error: unknown): error is CascadeError => error instanceof CascadeError && error.params.some(toRead);

/** The `fail` item. It comes whatever becomes of the reading: a Sequence that cannot be read is named by its type. */
export function* failing(run: Run, error: CascadeError): Steps<string> {
  const params: Value[] = [];
  for (const param of error.params) params.push(run.dead || !toRead(param) ? param : yield* read(run, param));
  return failItem(run, error, params);
}

function* read(run: Run, param: Value): Steps<Value> {
  try {
    return yield* materialized(run, param);
  } catch {
    return param;
  }
}
