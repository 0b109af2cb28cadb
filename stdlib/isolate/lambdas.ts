// Lambdas where values leave a program.

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
