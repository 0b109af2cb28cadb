// A handle of something that the host keeps and several runs may hold at one time (builtins.md 10): the isolate has nothing of it but this.
import { LocalValue, type Value } from './kinds.ts';

export type SharedKind = 'Map' | 'Cache' | 'Value' | 'Lock';

export class Shared extends LocalValue {
  readonly kind: SharedKind;
  readonly id: number;
  constructor(kind: SharedKind, id: number) {
    super();
    this.kind = kind;
    this.id = id;
  }
  get typeName(): string {
    return this.kind === 'Cache' ? 'Map' : this.kind;
  }
  override same(other: Value): boolean {
    return other instanceof Shared && other.id === this.id;
  }
  /** `Map:7` */
  get handle(): string {
    return `${this.kind}:${this.id}`;
  }
}

/** Reads what `handle` gives. */
export function sharedOf(handle: string): Shared | null {
  const found = /^(Map|Cache|Value|Lock):(\d+)$/.exec(handle);
  return found ? new Shared(found[1] as SharedKind, Number(found[2])) : null;
}

const ORIGINALS = new WeakMap<object, Value>();

/**
 * Marks a copy that takes an argument's place for a built-in which writes what shared objects hold: what is kept of the argument, as an
 * exception keeps its params, is the argument itself.
 * @returns the copy
 */
export function pictureOf<T extends Value & object>(original: Value, picture: T): T {
  ORIGINALS.set(picture, original);
  return picture;
}

/** What a value is a picture of; itself where it is none. */
export const originalOf = (value: Value): Value => (typeof value === 'object' && value !== null ? (ORIGINALS.get(value) ?? value) : value);
