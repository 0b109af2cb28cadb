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
    open.push({ name: local(name), attributes: ownAttributes(attributes), content: [] });
  });
  const addText = (more: string): void => {
    const content = open.at(-1)?.content;
    if (content === undefined || more === '') return;
    const last = content.at(-1);
    if (typeof last === 'string') content[content.length - 1] = last + more;
    else content.push(more);
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
  parser.write(text).close();
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

/** The root element with the text that it stands for. */
export const parseXmlDocument = (text: string): XmlDocument => new XmlDocument(parseXml(text), text);
