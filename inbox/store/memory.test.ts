import { expect, test } from 'vitest';
import { openMemory } from './memory.ts';

test('a change is made whole or not at all', async () => {
  const memory = openMemory(['a', 'b']);
  await memory.change(['a'], ({ add }) => add('a', '2', 'two'));
  const twice = memory.change(['a', 'b'], ({ put, add }) => {
    put('b', '1', 'one');
    add('a', '2', 'again');
  });
  await expect(twice).rejects.toMatchObject({ name: 'ConstraintError' });
  expect([await memory.get('a', '2'), await memory.all('b')]).toEqual(['two', []]);
});

test('it is read in the order of the keys', async () => {
  const memory = openMemory(['a']);
  await memory.change(['a'], ({ put }) => ['c', 'a', 'b'].forEach((key) => put('a', key, key.toUpperCase())));
  expect([await memory.keys('a'), await memory.all('a')]).toEqual([
    ['a', 'b', 'c'],
    ['A', 'B', 'C'],
  ]);
  await memory.change(['a'], (write) => write.delete('a', 'b'));
  expect(await memory.keys('a')).toEqual(['a', 'c']);
});

test('a value takes the place of one that fits', async () => {
  const memory = openMemory(['a']);
  expect(await memory.replace('a', 'x', (before) => before === undefined, 1)).toBe(true);
  expect(await memory.replace<number>('a', 'x', (before) => before === 2, 3)).toBe(false);
  expect(await memory.get('a', 'x')).toBe(1);
});
