// UPDATE … ON ERROR (language.md U6): what the statement answers, for instances of types and for system resources alike. A program takes it
// apart: the block runs for each failure, the value is the count.
import { refusalOfOne } from '../../model/errors/index.ts';
import type { CascadeError } from '../../stdlib/errors.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';

/** The answer of an UPDATE with ON ERROR. */
export const outcome = (count: number, failed: readonly Value[]): ObjectValue => ({ count, failed: [...failed] });

/** What the block gets of an instance that failed. */
export const failureOf = ({ code, message, params }: CascadeError, instance: Value): Value => ({
  error: { code, message, params },
  instance,
});

/**
 * Notes the failure of one instance, after which the statement goes on.
 * @param failed null: without ON ERROR the statement ends with the first failure
 * @throws `error` where it is no failure of that instance alone
 */
export function noteFailure(failed: Value[] | null, error: unknown, instance: Value): void {
  const refusal = failed && refusalOfOne(error);
  if (!failed || !refusal) throw error;
  failed.push(failureOf(refusal, instance));
}
