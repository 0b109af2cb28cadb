// The one JavaScript model of the language's values (language.md 4.1), in the isolate and in the host alike. Only shapes stand here:
// what they can do is in the files beside this one, so that stdlib/errors.ts can name them without a cycle.
import { formatDateTime } from './calendar.ts';
import { formatReal } from './real-text.ts';

/**
 * A Real whose double is integral (`5.0`, `-0.0`, `1e300`) or not finite. A Real with a fraction is a plain number.
 * `text` holds the digits as JSON had them, where the double does not hold them exactly; then the double may have a fraction. Conversions to
 * Decimal, Currency and Integer read it.
 */
export class Real {
  readonly value: number;
  readonly text: string | undefined;
  constructor(value: number, text?: string) {
    this.value = value;
    this.text = text;
  }
  toString(): string {
    return formatReal(this.value);
  }
  toJSON(): string {
    return sent(`r${this.text ?? (Object.is(this.value, -0) ? '-0' : String(this.value))}`);
  }
}

/** A fixed-point number: `unscaled` / 10 ** `scale`. */
export class Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
  constructor(unscaled: bigint, scale: number) {
    this.unscaled = unscaled;
    this.scale = scale;
  }
  /** Plain digits, exactly `scale` of them after the point. */
  toString(): string {
    if (this.scale === 0) return this.unscaled.toString();
    const negative = this.unscaled < 0n;
    const digits = (negative ? -this.unscaled : this.unscaled).toString().padStart(this.scale + 1, '0');
    const point = digits.length - this.scale;
    return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
  }
  toJSON(): string {
    return sent(`d${this.toString()}`);
  }
}

/** An amount of money; `code` is one of ISO 4217 (currencies.ts). */
export class Currency {
  readonly code: string;
  readonly amount: Decimal;
  constructor(code: string, amount: Decimal) {
    this.code = code;
    this.amount = amount;
  }
  toString(): string {
    return `${this.code}:${this.amount.toString()}`;
  }
  toJSON(): string {
    return sent(`c${this.toString()}`);
  }
}

/** An instant: `ms` since 1970-01-01T00:00Z, whole. */
export class DateTime {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  toString(): string {
    return formatDateTime(this.ms);
  }
  toJSON(): string {
    return sent(`t${this.ms}`);
  }
}

/** What exists only while a program runs (Sequence, RegExp, Map …): never stored, never sent as itself. */
export abstract class LocalValue {
  /** What `typeOf` answers. */
  abstract readonly typeName: string;
  /** For string `+`, `toString`, `join` … (builtins.md 0.3). */
  text(): string {
    return this.typeName;
  }
  /** What stands for it in JSON; undefined: it cannot be there. */
  data(): Value | undefined {
    return undefined;
  }
  /** Its text, if it may stand where a String is needed. */
  asString(): string | undefined {
    return undefined;
  }
  /** For IF, `!`, `&&` … (language.md 4.4). */
  truth(): boolean {
    return true;
  }
  /** `==` with it on the left. */
  same(other: Value): boolean {
    return this === other;
  }
  toJSON(): string {
    const data = this.data();
    if (typeof data === 'string') return data;
    throw new TypeError(`${this.typeName} is not plain data`);
  }
}

/** A lambda of the language in its plain form; only built-ins call it. */
export type Lambda = (...values: Value[]) => Value;
export interface ObjectValue {
  [key: string]: Value;
}
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Real
  | Decimal
  | Currency
  | DateTime
  | Value[]
  | ObjectValue
  | LocalValue
  | Lambda;

/** How many values were written by `toJSON`; inner-json.ts compares it with what it finds in the text. */
export const written = { count: 0 };

function sent(text: string): string {
  written.count++;
  return `\u0001${text}`;
}

/** For values that are written by a `toJSON` elsewhere. @param kind the letter of inner-json.ts */
export const sentAs = (kind: 'x', text: string): string => sent(kind + text);
