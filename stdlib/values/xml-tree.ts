// XML elements as plain arrays, for the border between isolate and host: `[name, attributes, content]`, a list as `[elements]`.
import type { ObjectValue } from './kinds.ts';
import { XmlElement, XmlList, type XmlNode } from './xml.ts';

type ElementTree = readonly [name: string, attributes: ObjectValue, content: readonly (string | ElementTree)[]];
type Tree = ElementTree | readonly [elements: readonly ElementTree[]];

const treeOfElement = ({ name, attributes, content }: XmlElement): ElementTree => [
  name,
  attributes,
  content.map((part) => (typeof part === 'string' ? part : treeOfElement(part))),
];

export const treeOf = (node: XmlNode): Tree => (node instanceof XmlElement ? treeOfElement(node) : [node.elements.map(treeOfElement)]);

const elementOf = ([name, attributes, content]: ElementTree): XmlElement =>
  new XmlElement(
    name,
    attributes,
    content.map((part) => (typeof part === 'string' ? part : elementOf(part))),
  );

/** @param tree a freshly parsed one, which the node keeps parts of */
export function nodeOf(tree: Tree): XmlNode {
  const [first] = tree;
  return typeof first === 'string' ? elementOf(tree as ElementTree) : new XmlList(first.map(elementOf));
}
