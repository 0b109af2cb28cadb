// XML as programs see it: elements and lists of them, reached by name (builtins.md 13, integrations.md 2.7), and their JSON.
import { LocalValue, type ObjectValue, sentAs, type Value } from './kinds.ts';
import { getOwn, setOwn } from './objects.ts';

/** An element or a list of elements; both answer to the same members. */
export abstract class XmlNode extends LocalValue {
  readonly typeName = 'Object';
  /** Itself, or what the list holds. */
  abstract readonly elements: readonly XmlElement[];
  /** What FOR goes through. */
  abstract entries(): readonly XmlElement[];

  /** `"@name"`: the attribute of the only element, or null; digits: one element; else the children of that name. Never an error. */
  property(key: string): Value {
    if (key.startsWith('@')) return this.elements.length === 1 ? getOwn((this.elements[0] as XmlElement).attributes, key.slice(1)) : null;
    if (/^\d+$/.test(key)) return this.elements[Number(key)] ?? new XmlList([]);
    return new XmlList(this.elements.flatMap(({ children }) => children.filter(({ name }) => name === key)));
  }
  /** All text below, in document order. */
  override text(): string {
    return this.elements.map(({ content }) => content.map((part) => (typeof part === 'string' ? part : part.text())).join('')).join('');
  }
  override asString(): string {
    return this.text();
  }
  override same(other: Value): boolean {
    if (other instanceof XmlNode) return sameElements(this.elements, other.elements);
    return typeof other === 'string' && this.text() === other;
  }
}

const PIECE_ELEMENTS = 128;

export class XmlElement extends XmlNode {
  readonly name: string;
  /** Strings; without namespace declarations. */
  readonly attributes: ObjectValue;
  /** Text and elements in document order; text that is blank stands only where there is nothing else. */
  readonly content: readonly (string | XmlElement)[];
  constructor(name: string, attributes: ObjectValue, content: readonly (string | XmlElement)[]) {
    super();
    this.name = name;
    this.attributes = attributes;
    this.content = content;
  }
  get elements(): readonly XmlElement[] {
    return [this];
  }
  get children(): readonly XmlElement[] {
    return this.content.filter((part) => typeof part !== 'string');
  }
  entries(): readonly XmlElement[] {
    return this.children;
  }
  /** Its text where it has nothing but text, else an Object of attributes `@name`, children by name, and `#text`. */
  override data(): Value {
    const work = this.dataInPieces();
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
    }
  }
  /** The same of a long one: it gives way after each few elements, wherever they are. */
  *dataInPieces(piece = { left: PIECE_ELEMENTS }): Generator<undefined, Value> {
    if (--piece.left === 0) {
      piece.left = PIECE_ELEMENTS;
      yield;
    }
    const text = this.content.filter((part) => typeof part === 'string').join('');
    const names = Object.keys(this.attributes);
    if (names.length === 0 && this.children.length === 0) return text;
    const object: ObjectValue = {};
    for (const name of names) setOwn(object, `@${name}`, getOwn(this.attributes, name));
    const counts = new Map<string, number>();
    for (const { name } of this.children) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const child of this.children) {
      const data = yield* child.dataInPieces(piece);
      if (counts.get(child.name) === 1) setOwn(object, child.name, data);
      else if (Object.hasOwn(object, child.name)) (object[child.name] as Value[]).push(data);
      else setOwn(object, child.name, [data]);
    }
    if (text.trim() !== '') setOwn(object, '#text', text);
    return object;
  }
}

/** A document with its text: on its way into the isolate it stays XML, where an element that a program has made is plain data. */
export class XmlDocument extends XmlElement {
  readonly source: string;
  constructor({ name, attributes, content }: XmlElement, source: string) {
    super(name, attributes, content);
    this.source = source;
  }
  override toJSON(): string {
    return sentAs('x', this.source);
  }
}

export class XmlList extends XmlNode {
  readonly elements: readonly XmlElement[];
  constructor(elements: readonly XmlElement[]) {
    super();
    this.elements = elements;
  }
  entries(): readonly XmlElement[] {
    return this.elements;
  }
  override truth(): boolean {
    return this.elements.length > 0;
  }
  override data(): Value {
    return this.elements.map((element) => element.data());
  }
}

/** Objects compare deeply (language.md 4.7): names, attributes in any order, and what is in the elements. A list of one is its element. */
function sameElements(a: readonly XmlElement[], b: readonly XmlElement[]): boolean {
  return a === b || (a.length === b.length && a.every((element, i) => sameElement(element, b[i] as XmlElement)));
}

function sameElement(a: XmlElement, b: XmlElement): boolean {
  if (a === b) return true;
  if (a.name !== b.name || a.content.length !== b.content.length) return false;
  const names = Object.keys(a.attributes);
  if (names.length !== Object.keys(b.attributes).length) return false;
  if (!names.every((name) => Object.hasOwn(b.attributes, name) && a.attributes[name] === b.attributes[name])) return false;
  return a.content.every((part, i) => {
    const other = b.content[i] as string | XmlElement;
    return typeof part === 'string' || typeof other === 'string' ? part === other : sameElement(part, other);
  });
}
