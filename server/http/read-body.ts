// What clients send as JSON, short or long: a long text is read piece by piece, so that it keeps nobody else waiting.
import { MAX_BODY_VALUES, parseJson, type ParseJsonOptions, parseLongJson } from '../../model/values/index.ts';
import { nextSlice, type MaybePromise } from '../../platform/structures/index.ts';
import type { Value } from '../../stdlib/values/index.ts';

/** Up to here a text is read at once, which takes a few milliseconds. */
export const SHORT_BYTES = 64 * 1024;

/** At most `MAX_BODY_VALUES` values. @throws request.body.invalid, at once or later */
export function readBody(bytes: Uint8Array, options: ParseJsonOptions = {}): MaybePromise<Value> {
  const bounded = { maxValues: MAX_BODY_VALUES, ...options };
  return bytes.length <= SHORT_BYTES ? parseJson(bytes, bounded) : parseLongJson(bytes, nextSlice, bounded);
}
