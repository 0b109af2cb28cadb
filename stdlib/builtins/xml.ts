// XML built-ins (builtins.md 13, integrations.md 2.7).
import { parseXml, XmlList, type XmlNode } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { made } from './growth.ts';

/** About what elements take for each character of their text. */
const BYTES_A_CHARACTER = 8;

export const xml: readonly Declaration[] = [
  {
    call: 'parseXml(str: String) => Object',
    forms: 'FM',
    about: 'The root element of an XML text.',
    errors: ['cascade.builtin.parse'],
    turns: (str: string) => str.length * 4,
    run: (context: BuiltinContext, str: string) => {
      context.charge(str.length * BYTES_A_CHARACTER);
      return parseXml(str);
    },
  },
  {
    call: 'text(node: Xml) => String',
    forms: 'M',
    about: 'All text below an element or the elements of a list.',
    run: (context: BuiltinContext, node: XmlNode) => made(context, node.text()),
  },
  {
    call: 'text(str: String) => String',
    forms: 'M',
    about: 'The String itself: an attribute answers like an element.',
    run: (_, str: string) => str,
  },
  {
    call: 'name(node: Xml) => String',
    forms: 'M',
    about: 'The name of the only element, without its prefix; null for a list of none or several.',
    run: (_, node: XmlNode) => (node.elements.length === 1 ? (node.elements[0]?.name ?? null) : null),
  },
  {
    call: 'children(node: Xml) => List',
    forms: 'M',
    about: 'The child elements.',
    run: (_, node: XmlNode) => new XmlList(node.elements.flatMap(({ children }) => children)),
  },
  {
    call: 'size(node: Xml) => Integer',
    forms: 'M',
    about: 'The number of elements of a list, of children of an element.',
    run: (_, node: XmlNode) => node.entries().length,
  },
];
