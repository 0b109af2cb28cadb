// Stored rows as text, for a client or a program: transcoded byte by byte, or, where scalars show themselves otherwise, by way of their
// procedures, all rows of a call at once.

import { encodeInner, getOwn, type ObjectValue, setOwn } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import type { TypeDefinition } from '../../types/index.ts';
import { instanceFromBson, instanceToJson, type Spelling, transcoder, wholeTranscoder } from '../../values/index.ts';
import type { Namespace } from '../types.ts';
import { isShownOtherwise, toShown } from './convert.ts';

export type WriteRows = (rows: readonly Uint8Array[]) => string[] | Promise<string[]>;

/** @param props the properties to keep, paths into them included; null means all */
export function writeRows(
  space: Namespace,
  type: TypeDefinition,
  spelling: Spelling,
  props: readonly string[] | null,
  actor: Actor,
): WriteRows {
  if (!isShownOtherwise(type)) {
    const write = props ? transcoder(type, spelling, { props }) : wholeTranscoder(type, spelling);
    return (rows) => rows.map(write);
  }
  return async (rows) => {
    const shown = await toShown(
      space,
      type,
      rows.map((row) => instanceFromBson(type, row)),
      actor,
    );
    return shown.map((instance) =>
      spelling === 'rest' ? instanceToJson(type, instance, props ?? undefined) : encodeInner(cut(instance, props)),
    );
  };
}

function cut(instance: ObjectValue, props: readonly string[] | null): ObjectValue {
  if (!props || props.length === 0) return instance;
  const kept = new Set(['_id', ...props.map((path) => path.split('.', 1)[0] as string)]);
  const result: ObjectValue = {};
  for (const name of Object.keys(instance)) if (kept.has(name)) setOwn(result, name, getOwn(instance, name));
  return result;
}
