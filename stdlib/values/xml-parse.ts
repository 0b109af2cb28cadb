// XML text to elements, by saxes. No DTDs, so no entities but the five and character references; comments and instructions are dropped.
import { SaxesParser } from 'saxes';
import { fail } from '../errors.ts';
import type { ObjectValue } from './kinds.ts';
import { MAX_DEPTH } from './depth.ts';
import { setOwn } from './objects.ts';
import { XmlDocument, XmlElement } from './xml.ts';

interface Open {
  readonly name: string;
  readonly attributes: ObjectValue;
  readonly content: (string | XmlElement)[];
}

/** The root element; other text is a parse error with its reason and position. */
export function parseXml(text: string): XmlElement {
  const work = parseXmlInPieces(text, { pieceCharacters: Math.max(text.length, 1) });
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

interface XmlPieces {
  /** Elements, which count twice, attributes and texts that there may be; any number by default. */
  readonly maxValues?: number;
  /** Characters that are read before the work gives way. */
  readonly pieceCharacters?: number;
}

const PIECE_CHARACTERS = 2_048;
/** An element takes the memory of an Object and of an array. */
const VALUES_OF_ELEMENT = 2;

/** The same for a long text: it gives way after each piece. */
export function* parseXmlInPieces(
  text: string,
  { maxValues = Number.POSITIVE_INFINITY, pieceCharacters = PIECE_CHARACTERS }: XmlPieces = {},
): Generator<undefined, XmlElement> {
  let values = 0;
  const count = (more: number): void => {
    if ((values += more) > maxValues) refuse(`more than ${maxValues} values`);
  };
  const parser = new SaxesParser({ position: true, xmlns: false });
  const refuse = (reason: string): never => fail('cascade.builtin.parse', reason, parser.position);
  const open: Open[] = [];
  let root: XmlElement | null = null;

  parser.on('error', ({ message }) => refuse(message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')));
  parser.on('doctype', () => refuse('a DTD is not allowed'));
  parser.on('opentagstart', () => {
    if (open.length > MAX_DEPTH) refuse('too deep');
  });
  parser.on('opentag', ({ name, attributes }) => {
    const own = ownAttributes(attributes);
    count(VALUES_OF_ELEMENT + Object.keys(own).length);
    open.push({ name: local(name), attributes: own, content: [] });
  });
  const addText = (more: string): void => {
    const content = open.at(-1)?.content;
    if (content === undefined || more === '') return;
    const last = content.at(-1);
    if (typeof last === 'string') content[content.length - 1] = last + more;
    else {
      count(1);
      content.push(more);
    }
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const { name, attributes, content } = open.pop() as Open;
    const mixed = content.some((part) => typeof part !== 'string');
    const element = new XmlElement(
      name,
      attributes,
      mixed ? content.filter((part) => typeof part !== 'string' || part.trim() !== '') : content,
    );
    if (open.length === 0) root = element;
    else (open.at(-1) as Open).content.push(element);
  });
  for (let at = 0; at < text.length; at += pieceCharacters) {
    parser.write(text.slice(at, at + pieceCharacters));
    yield;
  }
  parser.close();
  return root ?? refuse('an element is expected');
}

/** Without namespace declarations and prefixes. */
function ownAttributes(attributes: Record<string, string>): ObjectValue {
  const own: ObjectValue = {};
  for (const [name, value] of Object.entries(attributes))
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) setOwn(own, local(name), value);
  return own;
}

/** The name without its namespace prefix. */
function local(qualified: string): string {
  return qualified.slice(qualified.lastIndexOf(':') + 1);
}

/** The root element of a long text, with the text that it stands for. @throws as `parseXml` */
export function* parseXmlDocumentInPieces(text: string, maxValues: number): Generator<undefined, XmlDocument> {
  return new XmlDocument(yield* parseXmlInPieces(text, { maxValues }), text);
}
