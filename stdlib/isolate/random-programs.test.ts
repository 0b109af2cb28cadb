// Laws that hold for any program: what compiles also verifies and runs, no fault of ours comes out, and a repetition is the same byte for byte.
import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { type Answer, type Host, type Outcome, TestLane } from './testing/lane.ts';
import { amount } from '../../scripts/testing/amount.ts';

const builtins = builtinTable();
const NAMES = ['a', 'b', 'list', 'object', 'fresh'];

/** Texts of expressions, values and statements that use the variables of NAMES. */
const { expression, block } = fc.letrec<{ expression: string; value: string; statement: string; block: string }>((tie) => {
  const e = tie('expression');
  const name = fc.constantFrom(...NAMES);
  const join = (...parts: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
    fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((texts) => texts.join(''));
  const literal = fc.constantFrom(
    '0',
    '7',
    '-3',
    '2.5',
    '4.0',
    '9007199254740993',
    '"x"',
    '"\\u0001r5"',
    'true',
    'null',
    '2 seconds',
    '[]',
    '{}',
  );
  const operator = fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||');
  return {
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      literal,
      name,
      join('(', e, ' ', operator, ' ', e, ')'),
      join('(', e, ' ? ', e, ' : ', e, ')'),
      join('!', e),
      join(name, '.n'),
      join(name, '[', e, ']'),
      join('[', e, ', ', e, ']'),
      join('{n: ', e, ', __proto__: ', e, '}'),
      join('helper(', e, ')'),
      join('toArray(', e, ')'),
      join('length(', e, ')'),
      join(e, '.toString()').map((text) => `(${text.replace(/\.toString\(\)$/, '')}).toString()`),
      join(name, '++'),
    ),
    value: fc.oneof(
      e,
      join('SELECT ONE FROM T WHERE n == ', e),
      join('SELECT n, m = n + 1 FROM T WITH limit = 5'),
      join('INSERT T(n: ', e, ')'),
      join('MAP (x in ', e, ') { return x + ', e, ' }'),
      join('FILTER (x in SELECT FROM T until x == ', e, ') { helper(x) }'),
    ),
    statement: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      join('var fresh = ', tie('value')),
      join(name, ' = ', tie('value')),
      join(name, ' += ', e),
      join(name, '.n = ', e),
      join(name, '[', e, '] -= ', e),
      join('(', e, ')'),
      join('return ', tie('value')),
      join('if (', e, ') { ', tie('block'), ' } else { ', tie('block'), ' }'),
      join('for (x in ', tie('value'), ' until ', e, ') { ', tie('block'), ' }'),
      join('try { ', tie('block'), ' } catch (x) { ', tie('block'), ' } finally { ', tie('block'), ' }'),
      join('SELECT FROM T AS fresh { ', tie('block'), ' }'),
      join('UPDATE T(n: ', e, ') WHERE n > ', e, ' AND NOT (m in ', e, ') ON ERROR (x) { ', tie('block'), ' }'),
      join('PUBLISH ', e, ' TO TOPIC "/t"'),
      join('log.info("{}", [', e, '])'),
    ),
    block: fc
      .array(tie('statement'), { maxLength: 3 })
      .map((texts) => texts.map((text) => `try { ${text} } catch (q) { log.info(q.code) }`).join('\n')),
  };
});

const host: Host = (kind, _payload, nth): Answer => {
  if (kind === 'open') return { ok: { cursor: 'c', rows: [{ n: 1, m: 2 }], done: nth % 2 === 0 } };
  if (kind === 'next') return { ok: { rows: [{ n: 3 }], done: true } };
  if (kind === 'select')
    return nth % 3 === 2 ? { error: { code: 'test.select', message: 'no', params: [], status: 400 } } : { list: [{ n: nth }] };
  return kind === 'update'
    ? { ok: { count: 1, failed: [{ error: { code: 'x', message: 'm', params: [] }, instance: {} }] } }
    : { ok: { n: nth } };
};

function play(text: string, traced = false): Outcome {
  const lane = new TestLane({ compile: (source) => compile(source, { builtins, traced }), evaluate: runInThisContext });
  lane.load('PROCEDURE helper(x) if (x == 7) { INSERT Seen(x: toString(x)) } return x');
  lane.load(text);
  const args = [5, 'b', [1, { n: 2 }], { n: 3 }];
  return lane.call('f', args, host, { fuel: 50 });
}

test('any program runs to an end of its own, the same each time', () => {
  fc.assert(
    fc.property(block, expression, (body, last) => {
      const text = `PROCEDURE f(a, b, list, object)\nvar fresh\n${body}\nreturn ${last}`;
      const outcome = play(text);
      expect(outcome.failure?.code, text).not.toBe('cascade.server.error');
      expect(play(text).outbox).toBe(outcome.outbox);
    }),
    { numRuns: amount(120, 300) },
  );
});

test('the traced form of any program asks for the same and ends the same', () => {
  fc.assert(
    fc.property(block, expression, (body, last) => {
      const text = `PROCEDURE f(a, b, list, object)\nvar fresh\n${body}\nreturn ${last}`;
      const plain = play(text);
      const reported = play(text, true);
      expect(reported.ops, text).toEqual(plain.ops);
      expect(reported.failure?.code, text).toBe(plain.failure?.code);
      expect(reported.value).toEqual(plain.value);
      expect(reported.logs.filter((line) => !line.startsWith('LINE'))).toEqual(plain.logs);
    }),
    { numRuns: amount(30, 60) },
  );
});
