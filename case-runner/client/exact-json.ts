// JSON in which a number is its text: 5 and 5.0 stay apart, and 9223372036854775807 is not rounded.

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get isIntegral(): boolean {
    return /^-?\d+$/.test(this.text);
  }

  /** 5 equals 05 but not 5.0; 1.50 equals 1.5; 0.0 and -0.0 differ. */
  equals(other: JsonNumber): boolean {
    if (this.isIntegral !== other.isIntegral) return false;
    return this.isIntegral ? BigInt(this.text) === BigInt(other.text) : Object.is(Number(this.text), Number(other.text));
  }
}

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
/** Without a prototype, so that every key is plain data. */
export interface JsonObject {
  [key: string]: Json;
}

export function isNumber(value: Json): value is JsonNumber {
  return value instanceof JsonNumber;
}

export function toJsonText(value: Json): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJsonText).join(',')}]`;
  if (value !== null && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${toJsonText(item)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/** Throws a SyntaxError when the text is not JSON. */
export function parseJson(text: string): Json {
  const tokens = new RegExp(TOKEN);
  const next = (): string => {
    const found = tokens.exec(text);
    if (!found) throw new SyntaxError(`not JSON: ${text.slice(0, 200)}`);
    return found[0].trim();
  };
  const expectToken = (wanted: string, got: string): void => {
    if (got !== wanted) throw new SyntaxError(`'${wanted}' expected in JSON, got '${got}'`);
  };
  const value = (token: string): Json => {
    if (token === '{') return object();
    if (token === '[') return array();
    if (token.startsWith('"')) return JSON.parse(token) as string;
    if (token === 'true') return true;
    if (token === 'false') return false;
    if (token === 'null') return null;
    if (/^[-\d]/.test(token)) return new JsonNumber(token);
    throw new SyntaxError(`'${token}' is out of place in JSON`);
  };
  const array = (): Json[] => {
    const items: Json[] = [];
    for (let token = next(); token !== ']'; ) {
      items.push(value(token));
      token = next();
      if (token === ']') break;
      expectToken(',', token);
      token = next();
    }
    return items;
  };
  const object = (): JsonObject => {
    const members = Object.create(null) as JsonObject;
    for (let token = next(); token !== '}'; ) {
      expectToken(':', next());
      members[JSON.parse(token) as string] = value(next());
      token = next();
      if (token === '}') break;
      expectToken(',', token);
      token = next();
    }
    return members;
  };
  const result = value(next());
  if (text.slice(tokens.lastIndex).trim() !== '') throw new SyntaxError('text after the end of JSON');
  return result;
}
