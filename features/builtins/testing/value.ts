// Evaluates bodies of procedures in a test's engine.
import { lookup } from '../../../stdlib/builtins/index.ts';
import { isOfArguments } from '../../../stdlib/builtins/declaration.ts';
import type { TestEngine } from '../../../engine/testing/engine.ts';

/**
 * Returns the value of a procedure with the given body, or the code and params of its error. Fails on an error that the built-in in the
 * body does not declare.
 */
export function evaluator(engine: () => TestEngine): (body: string) => Promise<unknown> {
  let made = 0;
  return async (body) => {
    const name = `body${made++}`;
    await engine().program('procedures', `PROCEDURE ${name}()\n${body}`);
    try {
      return JSON.parse((await engine().ask('execute', 'procedures', { id: name, body: '[]' })).body ?? 'null');
    } catch (error) {
      const { code, params } = error as { code?: string; params?: unknown[] };
      if (code === undefined) throw error;
      requireDeclared(body, code);
      return `${code} ${JSON.stringify(params)}`;
    }
  };
}

function requireDeclared(body: string, code: string): void {
  const name = /^\w+(?:\.\w+)+(?=\()/.exec(body)?.[0];
  const calls = body.match(/\b[A-Z]\w+(?:\.\w+)+\(/g)?.length ?? 0;
  const overloads = name === undefined || calls > 1 ? undefined : lookup(name)?.overloads;
  if (!overloads || isOfArguments(code)) return;
  const declared = overloads.flatMap(({ errors }) => errors);
  if (!declared.some((each) => each === code || each === '*')) throw new Error(`${String(name)} does not declare ${code}`);
}
