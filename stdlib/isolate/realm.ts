// What is changed in the realm of programs before the first one runs.

/**
 * A lambda has no JSON: left out in silence it would be missed. The careful writer behind JSON.stringify tells of it (language.md C6).
 * Changes the realm that it is called in, so that JSON.stringify needs nobody to look through each value first.
 */
export function refuseLambdasAsJson(): void {
  Object.defineProperty(Function.prototype, 'toJSON', {
    value() {
      throw new TypeError('a lambda has no JSON');
    },
  });
}

/** Nothing here needs them, and modules cannot name them: they are one way less for whoever finds a hole. */
const UNNEEDED = ['eval', 'Function', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'];

/** @param realm the global object of a realm that runs programs and nothing else */
export function removeUnneeded(realm: object): void {
  for (const name of UNNEEDED) Reflect.deleteProperty(realm, name);
}
