// What the store of definitions keeps beside them.
import { expect, test } from 'vitest';
import { DefinitionStore } from './definition-store.ts';

test('the definitions that depend on a resource are known without a look at all', () => {
  const store = new DefinitionStore();
  const named = (of: DefinitionStore) => of.dependents().map(({ kind, name }) => `/${kind}/${name}`);
  const depends = { ars_dependentResource: '/types/Site' };
  store.put('rules', 'a', depends);
  store.put('topics', 'a', depends);
  store.put('rules', 'b', {});
  store.put('rules', 'c', depends);
  const copy = store.copy();
  store.put('rules', 'a', {});
  store.put('rules', 'b', depends);
  store.remove('rules', 'c');
  expect([named(store), named(copy)]).toEqual([
    ['/topics/a', '/rules/b'],
    ['/rules/a', '/topics/a', '/rules/c'],
  ]);
  store.put('rules', 'b', { ...depends, text: 'new' });
  expect(store.dependents()[1]?.object).toEqual({ ...depends, text: 'new' });
});
