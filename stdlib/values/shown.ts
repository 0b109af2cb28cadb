// What an error or a message shows of values: data alone, no deeper and no larger than may be kept, so that nothing behind it can fail. What
// is left out has `…` in its place, and what is no data the name of its type.
import { wholeUntil } from './cut-text.ts';
import { MAX_DATA_DEPTH } from './depth.ts';
import { Decimal, LocalValue, type ObjectValue, type Value } from './kinds.ts';
import { isObject, setOwn } from './objects.ts';
import { typeOf } from './text.ts';

/** What a value counts in a weight beside its characters, whatever it holds: the service makes something of each. */
export const VALUE_WEIGHT = 8;
/** Weight of all that is shown at once. */
const MOST_SHOWN = 1024 * 1024;
const CUT = '…';
/** More than this the store does not keep as a number (language.md 4.6): of such a Decimal its digits are shown. */
const MOST_UNSCALED = 10n ** 34n;
const MOST_SCALE = 6176;

class Room {
  left: number;
  /** Something did not fit. */
  isOver = false;
  constructor(weight: number) {
    this.left = weight;
  }

  /** Whether there is still room, of which `weight` is taken. */
  take(weight: number): boolean {
    if (this.left < weight) this.isOver = true;
    else this.left -= weight;
    return !this.isOver;
  }
}

/** One value. */
export const shown = (value: Value): Value => shownAt(value, 0, new Room(MOST_SHOWN));

/** Values beside each other, as the params of an error. Where there is not room for all, each has an equal share of what is left. */
export function shownAll(values: readonly Value[]): Value[] {
  const room = new Room(MOST_SHOWN);
  const whole = shownAt([...values], 0, room) as Value[];
  if (!room.isOver) return whole;
  const list: Value[] = [];
  let left = MOST_SHOWN;
  for (let i = 0; i < values.length; i++) {
    const share = new Room(Math.floor(left / (values.length - i)) - VALUE_WEIGHT);
    if (share.left < VALUE_WEIGHT) return [...list, CUT];
    left -= share.left + VALUE_WEIGHT;
    list.push(shownAt(values[i] ?? null, 1, share));
    left += share.left;
  }
  return list;
}

function shownAt(value: Value, depth: number, room: Room): Value {
  if (typeof value === 'string') return shownText(value, room);
  if (typeof value === 'function') return typeOf(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Decimal) return isKept(value) ? value : shownText(value.toString(), room);
  if (value instanceof LocalValue) return shownAt(value.data() ?? value.typeName, depth, room);
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return value;
  if (depth >= MAX_DATA_DEPTH || !room.take(VALUE_WEIGHT)) return CUT;
  return isList ? shownList(value, depth + 1, room) : shownObject(value, depth + 1, room);
}

function shownList(values: readonly Value[], depth: number, room: Room): Value[] {
  const list: Value[] = [];
  for (let i = 0; i < values.length; i++) {
    if (!room.take(VALUE_WEIGHT)) return [...list, CUT];
    list.push(shownAt(values[i] ?? null, depth, room));
  }
  return list;
}

function shownObject(value: ObjectValue, depth: number, room: Room): ObjectValue {
  const object: ObjectValue = {};
  for (const key of Object.keys(value)) {
    if (!room.take(VALUE_WEIGHT + key.length)) {
      setOwn(object, CUT, CUT);
      return object;
    }
    setOwn(object, key, shownAt(value[key] as Value, depth, room));
  }
  return object;
}

function shownText(text: string, room: Room): string {
  const most = Math.max(0, room.left);
  if (room.take(text.length)) return text;
  room.left = 0;
  return text.slice(0, wholeUntil(text, most)) + CUT;
}

const isKept = ({ unscaled, scale }: Decimal): boolean => unscaled < MOST_UNSCALED && unscaled > -MOST_UNSCALED && scale <= MOST_SCALE;
