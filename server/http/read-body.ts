// Parses the JSON of clients: a long text is parsed piece by piece, so that it delays nobody else.
import { MAX_BODY_VALUES, parseJson, type ParseJsonOptions, parseLongJson } from '../../model/values/index.ts';
import { longWork, type MaybePromise } from '../../platform/structures/index.ts';
import type { Value } from '../../stdlib/values/index.ts';

/** Bound up to which a text is parsed at once, which takes a few milliseconds. */
export const SHORT_BYTES = 64 * 1024;

/**
 * Parses up to `MAX_BODY_VALUES` values.
 * @param owner of the body: a few long ones of an owner are parsed at a time, since values take many times the memory of their text
 * @throws request.body.invalid, at once or later
 */
export function readBody(bytes: Uint8Array, owner: string, options: ParseJsonOptions = {}): MaybePromise<Value> {
  const bounded = { maxValues: MAX_BODY_VALUES, ...options };
  return bytes.length <= SHORT_BYTES ? parseJson(bytes, bounded) : readLong(bytes, owner, bounded);
}

async function readLong(bytes: Uint8Array, owner: string, options: ParseJsonOptions): Promise<Value> {
  using work = longWork(owner);
  return await parseLongJson(bytes, () => work.next(), options);
}
