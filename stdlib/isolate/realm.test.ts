import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { removeUnneeded } from './realm.ts';

test('programs find no way to make code of text, to share memory, or to see when something is collected', () => {
  const realm = createContext();
  const kinds = (): unknown =>
    ['eval', 'Function', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'Object', 'JSON'].map((name) =>
      String(runInContext(`typeof ${name}`, realm)),
    );
  const there = kinds();
  removeUnneeded(runInContext('globalThis', realm) as object);
  expect(there).not.toContain('undefined');
  expect(kinds()).toEqual([...Array.from({ length: 7 }, () => 'undefined'), 'function', 'object']);
});
