// Writes values as XML (integrations.md 2.7): an XmlElement as it is, an Object by the inverse of the mapping from elements to JSON.
import { isObject, getOwn, type ObjectValue, text, type Value, XmlElement, XmlList } from '../../../stdlib/values/index.ts';
import { ContentError } from './errors.ts';

/** @throws ContentError for a name that XML does not allow, and for a list without a name */
export function writeXml(value: Value): string {
  if (value instanceof XmlElement) return elementText(value);
  if (value instanceof XmlList) {
    const [only, ...more] = value.elements;
    if (!only || more.length > 0) throw new ContentError('XML has one root element');
    return elementText(only);
  }
  if (!isObject(value)) throw new ContentError('XML is made of an element, a String or an Object');
  const [name, ...more] = Object.keys(value);
  const inner = name === undefined ? null : getOwn(value, name);
  return name !== undefined && more.length === 0 && isObject(inner) ? written(name, inner) : written('root', value);
}

function elementText(element: XmlElement): string {
  const attributes = Object.keys(element.attributes).map((name): [string, Value] => [name, getOwn(element.attributes, name)]);
  const content = element.content.map((part) => (typeof part === 'string' ? escaped(part) : elementText(part))).join('');
  return tag(element.name, attributes, content);
}

function written(name: string, value: Value): string {
  if (value instanceof XmlElement) return elementText(value);
  if (value === null) return tag(name, [], '');
  if (!isObject(value)) return tag(name, [], escaped(text(value)));
  const keys = Object.keys(value);
  const attributes = keys.filter((key) => key.startsWith('@')).map((key): [string, Value] => [key.slice(1), getOwn(value, key)]);
  return tag(
    name,
    attributes,
    keys
      .filter((key) => !key.startsWith('@'))
      .map((key) => childText(value, key))
      .join(''),
  );
}

function childText(parent: ObjectValue, key: string): string {
  const child = getOwn(parent, key);
  if (key === '#text') return escaped(text(child));
  return Array.isArray(child) ? child.map((one) => written(key, one)).join('') : written(key, child);
}

function tag(name: string, attributes: readonly [string, Value][], content: string): string {
  const open = [checked(name), ...attributes.map(([key, value]) => `${checked(key)}="${escaped(text(value))}"`)].join(' ');
  return content === '' ? `<${open}/>` : `<${open}>${content}</${name}>`;
}

function checked(name: string): string {
  if (!/^[\p{L}_][\p{L}\p{N}._-]*$/u.test(name)) throw new ContentError(`'${name}' cannot be the name of an element or attribute`);
  return name;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\t': '&#9;', '\r': '&#13;' };

function escaped(source: string): string {
  const forbidden = [...source].find((character) => {
    const code = character.codePointAt(0) as number;
    return (
      (code < 0x20 && code !== 9 && code !== 10 && code !== 13) || code === 0xfffe || code === 0xffff || (code >= 0xd800 && code < 0xe000)
    );
  });
  if (forbidden !== undefined) throw new ContentError('a character that XML does not allow');
  return source.replaceAll(/[&<>"\t\r]/g, (character) => ENTITIES[character] ?? character);
}
