import { describe, expect, it } from 'vitest';
import { LinkedList, type ListNode, unlinked } from './linked-list.ts';

interface Named extends ListNode {
  readonly name: string;
}

const named = (name: string): Named => ({ name, ...unlinked });
const names = (chain: LinkedList<Named>): string => [...chain].map(({ name }) => name).join('');

describe('a chain', () => {
  it('keeps the order in which they came, whoever leaves', () => {
    const chain = new LinkedList<Named>();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(named) as [Named, Named, Named, Named];
    for (const one of [a, b, c, d]) chain.add(one);
    chain.remove(b);
    expect(names(chain)).toBe('acd');
    chain.remove(a);
    chain.remove(d);
    expect([names(chain), chain.first, chain.size]).toEqual(['c', c, 1]);
    chain.add(a);
    expect([names(chain), chain.size]).toEqual(['ca', 2]);
    chain.remove(c);
    chain.remove(a);
    expect([names(chain), chain.first, chain.size]).toEqual(['', null, 0]);
  });

  it('is left once', () => {
    const chain = new LinkedList<Named>();
    const a = named('a');
    chain.add(a);
    chain.add(named('b'));
    chain.remove(a);
    chain.remove(a);
    expect([names(chain), chain.size]).toEqual(['b', 1]);
  });

  it('holds nothing by what has left, and what has left holds nothing', () => {
    const chain = new LinkedList<Named>();
    const all = ['a', 'b', 'c'].map(named);
    for (const one of all) chain.add(one);
    for (const one of all) chain.remove(one);
    for (const { before, after } of all) expect([before, after]).toEqual([null, null]);
  });

  it('can be left by what is given while it is gone through', () => {
    const chain = new LinkedList<Named>();
    for (const name of 'abc') chain.add(named(name));
    for (const one of chain) chain.remove(one);
    expect(chain.size).toBe(0);
  });
});
