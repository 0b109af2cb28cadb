// What a body of a procedure gives in a test's engine.
import type { TestEngine } from '../../testing/engine.ts';

/** Of each engine's tests one: the value of a procedure with this body, or the code and params of its error. */
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
      return `${code} ${JSON.stringify(params)}`;
    }
  };
}
