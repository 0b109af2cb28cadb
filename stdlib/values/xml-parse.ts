// XML text to elements. No DTDs, so no entities but the five and character references; comments and instructions are dropped.
import { fail } from '../errors.ts';
import type { ObjectValue } from './kinds.ts';
import { MAX_DEPTH, setOwn } from './objects.ts';
import { XmlElement } from './xml.ts';

const NAME = /[\p{L}_:][\p{L}\p{N}\p{M}_:.\-·]*/uy;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** The root element; other text is a parse error with its reason and position. */
export function parseXml(text: string): XmlElement {
  return new XmlParser(text).document();
}

class XmlParser {
  readonly #text: string;
  #at = 0;
  constructor(text: string) {
    this.#text = text;
  }

  document(): XmlElement {
    if (this.#text.startsWith('\ufeff')) this.#at++;
    this.#miscellany();
    if (this.#text[this.#at] !== '<') this.#refuse('an element is expected');
    const root = this.#element(0);
    this.#miscellany();
    return this.#at < this.#text.length ? this.#refuse('text after the root element') : root;
  }

  #refuse(reason: string): never {
    return fail('cascade.builtin.parse', reason, this.#at);
  }

  #blanks(): void {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  /** Goes past `end`; gives what stood before it. */
  #until(end: string, what: string): string {
    const at = this.#text.indexOf(end, this.#at);
    if (at < 0) this.#refuse(`${what} is not closed`);
    const inside = this.#text.slice(this.#at, at);
    this.#at = at + end.length;
    return inside;
  }

  /** Blanks, comments and instructions around the root. */
  #miscellany(): void {
    for (;;) {
      this.#blanks();
      if (this.#takes('<!--')) this.#until('-->', 'a comment');
      else if (this.#takes('<?')) this.#until('?>', 'an instruction');
      else if (this.#text.startsWith('<!', this.#at)) this.#refuse('a DTD is not allowed');
      else return;
    }
  }

  #name(): string {
    NAME.lastIndex = this.#at;
    const name = NAME.exec(this.#text)?.[0] ?? this.#refuse('a name is expected');
    this.#at += name.length;
    return name;
  }

  #element(depth: number): XmlElement {
    if (depth > MAX_DEPTH) this.#refuse('too deep');
    this.#at++;
    const qualified = this.#name();
    const attributes = this.#attributes();
    let content: (string | XmlElement)[] = [];
    if (!this.#takes('/>')) {
      if (!this.#takes('>')) this.#refuse('> is expected');
      content = this.#content(depth);
      if (this.#name() !== qualified) this.#refuse(`</${qualified}> is expected`);
      this.#blanks();
      if (!this.#takes('>')) this.#refuse('> is expected');
    }
    return new XmlElement(local(qualified), attributes, content);
  }

  #attributes(): ObjectValue {
    const attributes: ObjectValue = {};
    const seen = new Set<string>();
    for (;;) {
      const before = this.#at;
      this.#blanks();
      if (!/[\p{L}_:]/u.test(this.#text.charAt(this.#at))) return attributes;
      if (this.#at === before) this.#refuse('a blank is expected');
      const name = this.#name();
      if (seen.has(name)) this.#refuse(`${name} stands twice`);
      seen.add(name);
      this.#blanks();
      if (!this.#takes('=')) this.#refuse('= is expected');
      this.#blanks();
      const quote = this.#text.charAt(this.#at++);
      if (quote !== '"' && quote !== "'") this.#refuse('a quoted value is expected');
      const start = this.#at;
      const raw = this.#until(quote, 'a value');
      if (raw.includes('<')) this.#refuse('< in a value');
      if (name !== 'xmlns' && !name.startsWith('xmlns:'))
        setOwn(attributes, local(name), this.#unescaped(raw.replace(/[\t\r\n]/g, ' '), start));
    }
  }

  /** Up to and including `</`. Blank text between elements is dropped. */
  #content(depth: number): (string | XmlElement)[] {
    const content: (string | XmlElement)[] = [];
    let text = '';
    const flush = (): void => {
      if (text !== '') content.push(text);
      text = '';
    };
    for (;;) {
      const start = this.#at;
      const next = this.#text.indexOf('<', start);
      if (next < 0) this.#refuse('an element is not closed');
      text += this.#unescaped(this.#text.slice(start, next).replace(/\r\n?/g, '\n'), start);
      this.#at = next;
      if (this.#takes('</')) break;
      if (this.#takes('<!--')) this.#until('-->', 'a comment');
      else if (this.#takes('<![CDATA[')) text += this.#until(']]>', 'CDATA');
      else if (this.#takes('<?')) this.#until('?>', 'an instruction');
      else {
        flush();
        content.push(this.#element(depth + 1));
      }
    }
    flush();
    const mixed = content.some((part) => typeof part !== 'string');
    return mixed ? content.filter((part) => typeof part !== 'string' || part.trim() !== '') : content;
  }

  #unescaped(raw: string, start: number): string {
    if (!raw.includes('&')) return raw;
    return raw.replace(/&([^;&]*)(;?)/g, (_, reference: string, end: string, offset: number) => {
      const [, hex, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(reference) ?? [];
      const point = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : Number.NaN;
      const isCharacter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
      const character = isCharacter ? String.fromCodePoint(point) : ENTITIES.get(reference);
      if (end === ';' && character !== undefined) return character;
      this.#at = start + offset;
      return this.#refuse('an unknown entity');
    });
  }
}

/** The name without its namespace prefix. */
function local(qualified: string): string {
  return qualified.slice(qualified.lastIndexOf(':') + 1);
}
