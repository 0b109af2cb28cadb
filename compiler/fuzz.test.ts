// No text makes the compiler throw, or fail inside: random trees whose names are declared, so that they reach the emitter, and the programs
// of the conformance cases with a few tokens changed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtinTable } from '../stdlib/builtins/index.ts';
import type { Definition } from './ast.ts';
import { compile, INTERNAL_FAULT } from './index.ts';
import { print } from './print/index.ts';
import { randomTree } from './print/testing/random-trees.ts';

const SEED = Number(process.env['CASCADE_FUZZ_SEED'] ?? 20260315);
const MOST_ROUNDS = 20;
const builtins = builtinTable();

/** The faults of the compiler on this text; diagnostics of the text itself are fine. */
function faults(text: string): string[] {
  return compile(text, { builtins }).diagnostics.flatMap(({ message }) => (message.startsWith(INTERNAL_FAULT) ? [message] : []));
}
function undeclared(text: string): string[] {
  const { diagnostics } = compile(text, { builtins });
  return diagnostics.flatMap(({ code, message }) =>
    code === 'cascade.lang.variable.undeclared' ? (/^'(\w+)' is not/.exec(message)?.slice(1) ?? []) : [],
  );
}

/** One statement as a procedure, its free names declared before it. */
function asProcedure(statement: Definition['body'][number]): string {
  const declared = new Set<string>();
  const rest = print({ ...HEADER, body: [statement] } as unknown as Definition).slice(PREFIX.length);
  for (let round = 0; ; round++) {
    const text = `${PREFIX}${[...declared].map((name) => `\nvar ${name};`).join('')}${rest}`;
    const missing = undeclared(text).filter((name) => !declared.has(name));
    if (missing.length === 0 || round === MOST_ROUNDS) return text;
    for (const name of missing) declared.add(name);
  }
}
const PREFIX = 'PROCEDURE p()';
const NAME = { type: 'QualifiedName', parts: [{ type: 'Identifier', name: 'p' }], text: 'p' };
const HEADER = {
  ...{ type: 'Procedure', name: NAME, package: null, imports: [], description: '', private: false, access: null },
  ...{ parameters: [], returns: null, hidden: false, options: [] },
};

test('statements of random trees compile, or are told of', () => {
  const law = fc.property(randomTree(), (tree) => {
    for (const statement of tree.body) {
      const text = asProcedure(statement);
      expect(faults(text), text).toEqual([]);
    }
  });
  fc.assert(law, { seed: SEED, numRuns: 200 });
});

test('programs of the conformance cases compile, or are told of, whatever is done to their tokens', () => {
  const folder = join(import.meta.dirname, '../conformance/cases');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  const programs = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/(?:RULE|PROCEDURE) [^\n]{10,}/g) ?? []);
  expect(programs.length).toBeGreaterThan(50);
  const words = [...programs.join(' ').match(TOKENS)!, ...'@ => ( ) [ ] { } UNTIL @log __proto__ log -1 "\u2028"'.split(' ')];
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('drop', 'twice', 'swap', 'other'),
    word: fc.constantFrom(...new Set(words)),
  });
  const law = fc.property(fc.constantFrom(...programs), fc.array(change, { minLength: 1, maxLength: 4 }), (program, changes) => {
    const tokens = program.match(TOKENS) ?? [];
    for (const { at, how, word } of changes) {
      const index = at % (tokens.length || 1);
      const here = tokens[index] ?? word;
      const next = tokens[index + 1] ?? word;
      const put = { drop: [next], twice: [here, here, next], swap: [next, here], other: [word, next] }[how];
      tokens.splice(index, 2, ...put);
    }
    const text = tokens.join('');
    expect(faults(text), text).toEqual([]);
  });
  fc.assert(law, { seed: SEED, numRuns: 1_000 });
});
const TOKENS = /"(?:[^"\\\n]|\\.)*"|\w+|\s+|[^\w\s]/g;

test('a failure inside the compiler is a diagnostic that says so', () => {
  const broken = {
    get: () => {
      throw new Error('no table');
    },
  } as unknown as typeof builtins;
  const { ok, diagnostics } = compile('PROCEDURE p() f(1)', { builtins: broken });
  expect(ok).toBe(false);
  expect(diagnostics[0]?.message).toBe(`${INTERNAL_FAULT}: no table`);
});
