import { expect, test } from 'vitest';
import { eq, truth } from '../operators/index.ts';
import {
  decodeInner,
  encodeInner,
  encodeStatement,
  parseXml,
  stringify,
  typeOf,
  type Value,
  type XmlElement,
  type XmlNode,
} from '../values/index.ts';
import { lookup } from './index.ts';
import { outcome, testContext } from './testing/cases.ts';

/** `node.a.b` … as the driver reads it. */
const at = (node: Value, ...path: string[]): Value => path.reduce((value, key) => (value as XmlNode).property(key), node);
const method = (name: string, receiver: Value): unknown => outcome(() => lookup(name)!.callMethod(testContext(), [receiver]));

test('builtins.md 13: elements are reached by name, index and attribute', () => {
  const x = lookup('parseXml')!.call(testContext(), ['<t a="1"><h>A</h><h>B</h></t>']);
  expect([
    at(x, '@a'),
    method('text', at(x, 'h', '1')),
    method('size', at(x, 'h')),
    method('text', at(x, 'h')),
    method('text', at(x, 'zz')),
  ]).toEqual(['1', 'B', 2, 'AB', '']);
  expect([method('size', at(x, 'zz')), at(x, '@zz'), method('name', x), method('name', at(x, 'h')), typeOf(x)]).toEqual([
    0,
    null,
    't',
    null,
    'Object',
  ]);
});

const YARD = '<yard><crane id="k1"><load>12</load></crane><crane id="k2"/></yard>';

test('integrations.md 2.7: what is not there is empty, never an error', () => {
  const r = parseXml(YARD);
  expect(
    [at(r, 'crane', '0', 'load'), at(r, 'crane', '1', 'load'), at(r, 'crane', '7'), at(r, 'missing', 'deeper')].map((v) =>
      method('text', v),
    ),
  ).toEqual(['12', '', '', '']);
  expect([at(r, 'crane', '1', '@id'), method('text', at(r, 'crane', '1', '@id')), at(r, 'crane', '@id')]).toEqual(['k2', 'k2', null]);
  expect([truth(at(r, 'crane')), truth(at(r, 'missing')), truth(r)]).toEqual([true, false, true]);
});

test('integrations.md 2.7: an element stands for its text where a String is needed', () => {
  const r = parseXml(YARD);
  const load = at(r, 'crane', 'load');
  expect([lookup('toInteger')!.callMethod(testContext(), [load]), lookup('startsWith')!.callMethod(testContext(), [load, '1'])]).toEqual([
    12,
    true,
  ]);
  expect([eq(load, '12'), eq('12', load), eq(load, '13')]).toEqual([true, true, false]);
});

test('language.md 4.7: elements are equal by what is in them, a list of one is its element', () => {
  const r = parseXml(
    '<r><a x="1" y="2">t<b/></a><a y="2" x="1">t<b/></a><a x="1">t<b/></a><a x="1" y="3">t<b/></a><a x="1" y="2">t<c/></a></r>',
  );
  const a = (index: number): Value => at(r, 'a', String(index));
  expect([eq(a(0), a(0)), eq(at(r, 'a'), at(r, 'a')), eq(r, r)]).toEqual([true, true, true]);
  expect([1, 2, 3, 4].map((index) => eq(a(0), a(index)))).toEqual([true, false, false, false]);
  expect([eq(at(r, 'a'), a(0)), eq(a(0), at(r, 'a')), eq(at(r, 'none'), at(r, 'nothing'))]).toEqual([false, false, true]);
  const one = parseXml('<r><a>t</a></r>');
  expect([eq(at(one, 'a'), at(one, 'a', '0')), eq(at(one, 'a', '0'), at(one, 'a')), eq(at(one, 'a'), at(one, 'b'))]).toEqual([
    true,
    true,
    false,
  ]);
  const mixed = parseXml('<r><a>t<b/></a><a><b/>t</a><a>t</a><c>t</c></r>');
  const pairs = [
    eq(at(mixed, 'a', '0'), at(mixed, 'a', '1')),
    eq(at(mixed, 'a', '0'), at(mixed, 'a', '2')),
    eq(at(mixed, 'a', '2'), at(mixed, 'c')),
  ];
  expect(pairs).toEqual([false, false, false]);
});

test('XML in a statement on the store comes back as it was', () => {
  const r = parseXml('<r a="1">x<b>y</b><b/>z</r>');
  const back = (node: Value): XmlNode => decodeInner(encodeStatement(node)) as XmlNode;
  expect([eq(back(r), r), eq(back(at(r, 'b')), at(r, 'b')), eq(back(at(r, 'b', '1')), at(r, 'b', '1'))]).toEqual([true, true, true]);
  expect([back(r).text(), back(at(r, 'b')).entries().length, (back(r) as XmlElement).attributes]).toEqual(['xyz', 2, { a: '1' }]);
});

test('integrations.md 2.7: elements as JSON', () => {
  expect(stringify(parseXml(YARD))).toBe('{"crane":[{"@id":"k1","load":"12"},{"@id":"k2"}]}');
  expect(stringify(parseXml('<a>  </a>'))).toBe('"  "');
  expect(stringify(parseXml('<a><b/> <b>x</b>y</a>'))).toBe('{"b":["","x"],"#text":"y"}');
  expect(encodeInner([parseXml('<a><b>1</b></a>')])).toBe('[{"b":"1"}]');
});

test('XML goes into the isolate as its text', () => {
  expect((decodeInner(JSON.stringify(`\u0001x${YARD}`)) as XmlElement).name).toBe('yard');
});

test('FOR goes through the elements of a list, and the children of an element', () => {
  const r = parseXml(YARD);
  expect([
    (at(r, 'crane') as XmlNode).entries().length,
    r.entries().length,
    method('size', r),
    (method('children', r) as XmlNode).entries().length,
  ]).toEqual([2, 2, 2, 2]);
});

test.each([
  ['<?xml version="1.0"?><!-- c --><a>x<!-- c -->y<?p i?></a>', 'xy'],
  ['<a>&lt;&amp;&#65;&#x1F600;</a>', '<&A😀'],
  ['<a><![CDATA[<b>&amp;]]></a>', '<b>&amp;'],
  ['<s:a xmlns:s="u"><s:b>1</s:b></s:a>', '1'],
  ['\ufeff<a>\r\n</a>', '\n'],
  ["<a b='\"' ></a >", ''],
])('%s has the text %j', (source, expected) => {
  expect(parseXml(source).text()).toBe(expected);
});

test.each([
  '',
  'x',
  '<a>',
  '<a></b>',
  '<a b></a>',
  '<a b=c></a>',
  '<a b="1"c="2"/>',
  '<a b="1" b="2"/>',
  '<a>&nbsp;</a>',
  '<a>&amp</a>',
  '<a/><b/>',
  '<a b="<"/>',
  '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  '<a>&#0;</a>',
  '<1/>',
  '<a'.repeat(5000),
  '<a>'.repeat(5000),
])('%s is a parse error', (source) => {
  expect(outcome(() => parseXml(source))).toEqual({ error: 'cascade.builtin.parse' });
});

test('a long document becomes data in pieces, however it is nested', () => {
  const nested = (depth: number): string => (depth === 0 ? '<leaf/>' : `<n>${nested(depth - 1)}${nested(depth - 1)}</n>`);
  const element = parseXml(nested(10));
  const work = element.dataInPieces();
  let pieces = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pieces++;
  expect(step.value).toEqual(element.data());
  expect(pieces).toBeGreaterThanOrEqual(15);
});
