// The advice of `cascade check`, code by code, with its place. Only the command line gives advice, so its cases are here and not in
// conformance/.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cascade } from '../testing/fake-terminal.ts';

const PUMP = { name: 'Pump', properties: { id: { type: 'String', required: true }, rate: { type: 'Integer' } } };
const HELPER = 'PROCEDURE helper(a String REQUIRED)\nreturn a';
/** Bodies of a procedure of (p Pump, d Decimal(2)), with the expected advice, `code line:column`; the head is line 1. */
const CASES: readonly (readonly [body: string, ...found: string[]])[] = [
  ['var unused = 1\nreturn 2', 'variable.unused 2:5'],
  ['var a = 1\nvar b = a\na = 2\nreturn b', 'assignment.unread 4:1'],
  ['if (true) { log.info("x") }', 'condition.constant 2:5'],
  ['exception("a", "b")\nreturn 1', 'statement.unreachable 3:1'],
  ['return 1 < d', 'class.cast 2:10'],
  ['return "a" - 1', 'operand 2:12'],
  ['return p.rte', 'property.unknown 2:10'],
  ['INSERT Pump(rate: 1)', 'property.required 2:8'],
  ['INSERT Pump(id: "a", rate: "x")', 'property.type 2:28'],
  ['return toUpperCase("a", "b")', 'argument.count 2:25'],
  ['return indexOf("a")', 'argument.missing 2:8'],
  ['return toUpperCase(5)', 'argument.type 2:20'],
  ['return helper(a: "x", z: 1)', 'argument.unknown 2:23'],
  ['return helpr("a")', 'procedure.unknown 2:8'],
  ['SELECT FROM Pomp AS q\nreturn q', 'type.unknown 2:13'],
  ['var a = p.rate + 1\nreturn helper(toString(a))'],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-check-'));
  await writeFile(join(folder, 'types.json'), JSON.stringify([PUMP]));
  await writeFile(join(folder, 'helper.rule'), HELPER);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

test('each kind of advice names the place of its cause', async () => {
  const files = CASES.map((_, index) => join(folder, `case${index}.rule`));
  for (const [index, [body]] of CASES.entries())
    await writeFile(files[index] ?? '', `PROCEDURE case${index}(p Pump, d Decimal(2))\n${body}`);
  const args = ['check', '--json', '--types', join(folder, 'types.json'), ...files, join(folder, 'helper.rule')];
  const { out } = await cascade(args);
  const checked = (JSON.parse(out) as { files: { diagnostics: { code: string; line: number; column: number }[] }[] }).files;
  for (const [index, [body, ...found]] of CASES.entries()) {
    const given = checked[index]?.diagnostics.map(({ code, line, column }) => `${code.replace('cascade.check.', '')} ${line}:${column}`);
    expect(given, body).toEqual(found);
  }
});

test('each kind of advice has a case', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');
  const codes = new Set([...page.matchAll(/cascade\.check\.([a-z.]+[a-z])/g)].map(([, code]) => code));
  const named = new Set(CASES.flatMap(([, ...found]) => found.map((one) => one.split(' ')[0])));
  expect(codes).toEqual(named);
});
