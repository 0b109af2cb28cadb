// A value in the state store: inner JSON text, and the shared objects whose handles are in the text. An object lives as long as a value or
// an open run holds it; the garbage collector does the rest.
import { decodeInner, Shared, type SharedKind, type Value } from '../../stdlib/values/index.ts';

/** A reference to a Map, Cache, Value or Lock that several runs share (builtins.md 10). */
export interface SharedRef {
  /** Unique in the store; the handle's number. */
  readonly id: number;
  readonly kind: SharedKind;
}

export interface StoredValue {
  readonly json: string;
  readonly refs: readonly SharedRef[];
}

export const NOTHING: StoredValue = { json: 'null', refs: [] };

/** The text of a value that is just a handle. */
export const handleOf = (object: SharedRef): StoredValue => ({
  json: JSON.stringify(`\u0001h${object.kind}:${object.id}`),
  refs: [object],
});

/** Text in which a handle may stand: that of a user's own string is escaped, so it never looks like one. */
const HANDLE = /"\\u0001h(Map|Cache|Value|Lock):(\d+)"/g;

/** @param find the object behind a handle of the run that sent the text */
export function storedValue(json: string, find: (kind: SharedKind, id: number) => SharedRef): StoredValue {
  if (!json.includes('\\u0001h')) return { json, refs: [] };
  const refs = new Set<SharedRef>();
  const own = json.replace(HANDLE, (_, kind: SharedKind, id: string) => {
    const object = find(kind, Number(id));
    refs.add(object);
    return handleOf(object).json;
  });
  return { json: own, refs: [...refs] };
}

/** The value itself; shared objects in it are handles. */
export const valueOf = (one: StoredValue): Value => decodeInner(one.json);

/** Whether a value is a handle and nothing else, and of which kind. */
export function kindOf(one: StoredValue): SharedKind | null {
  const value = one.refs.length === 1 ? valueOf(one) : null;
  return value instanceof Shared ? value.kind : null;
}
