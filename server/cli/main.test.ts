import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cascade } from '../testing/fake-terminal.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-cli-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test('a command ends with success though the reader of its output stops early', async () => {
  const bin = join(import.meta.dirname, '../../bin/cascade.js');
  const child = spawn(process.execPath, [bin, 'builtins'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
});

test.skipIf(!existsSync('/dev/full'))('a command whose output finds no room has not succeeded, and says so', async () => {
  const bin = join(import.meta.dirname, '../../bin/cascade.js');
  const full = openSync('/dev/full', 'w');
  try {
    const child = spawn(process.execPath, [bin, 'builtins'], { stdio: ['ignore', full, 'pipe'] });
    let err = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = (await once(child, 'close')) as [number];
    expect([code, err]).toEqual([1, 'The output could not be written: the disk is full.\n']);
  } finally {
    closeSync(full);
  }
});

test('a file in another encoding is refused and stays as it is: its characters would be lost', async () => {
  const path = join(folder, 'latin.proc');
  const bytes = Buffer.from('procedure latin()\nreturn "\xe4"', 'latin1');
  await writeFile(path, bytes);
  for (const command of ['format', 'check', 'compile', 'run', 'test'])
    expect(await cascade([command, path])).toEqual({ code: 2, out: '', err: `${path} cannot be read: it is no UTF-8 text.\n` });
  expect((await readFile(path)).equals(bytes)).toBe(true);
});

const PROCEDURE = 'PROCEDURE twice(n Integer)\nreturn n * 2';
const BROKEN = 'PROCEDURE broken()\nreturn ]';
const UNDECLARED = 'PROCEDURE undeclared()\nvar a = 1\nreturn b';

test('a misspelt command gets a suggestion', async () => {
  expect((await cascade(['serv'])).err).toBe("error: unknown command 'serv'\n(Did you mean serve?)\n");
});

test.each([
  [['nonsense']],
  [['serve', '--port', '70000']],
  [['serve', '--port', 'x']],
  [['check']],
  [['check', '--nonsense', 'f']],
  [['run']],
])('what is no command is refused with exit code 2: %s', async (args) => {
  const { code, err } = await cascade(args);
  expect(code).toBe(2);
  expect(err).toMatch(/error: /);
});

test('help names every command', async () => {
  const { code, out } = await cascade(['--help']);
  expect(code).toBe(0);
  for (const name of ['serve', 'check', 'compile', 'run', 'admin', 'token']) expect(out).toContain(`\n  ${name}`);
});

test('serve without a place for its data is refused', async () => {
  const { code, err } = await cascade(['serve']);
  expect(code).toBe(2);
  expect(err).toContain('--data DIR');
});

test('a file that cannot be read is named', async () => {
  for (const command of ['check', 'compile', 'run']) {
    const { code, err } = await cascade([command, join(folder, 'nowhere.rule')]);
    expect(code).toBe(2);
    expect(err).toContain('nowhere.rule cannot be read: there is no such file');
  }
});

test('check prints the diagnostics of each file as JSON, and its exit code says whether there are errors', async () => {
  const [good, broken] = [await file('good.proc', PROCEDURE), await file('broken.proc', BROKEN)];
  const both = await cascade(['check', '--json', good, broken]);
  expect(both.code).toBe(1);
  const { files } = JSON.parse(both.out) as { files: { file: string; ok: boolean; diagnostics: Record<string, unknown>[] }[] };
  expect(files.map(({ file, ok }) => [file, ok])).toEqual([
    [good, true],
    [broken, false],
  ]);
  expect(files[0]!.diagnostics).toEqual([]);
  const [first] = files[1]!.diagnostics;
  expect(Object.keys(first!)).toEqual(['code', 'message', 'severity', 'line', 'column']);
  expect(first).toMatchObject({ code: 'cascade.lang.syntax', severity: 'error', line: 2, column: 8 });
  expect(await cascade(['check', '--json', good])).toMatchObject({ code: 0 });
});

test('check shows people the line with a caret', async () => {
  const broken = await file('broken.proc', BROKEN);
  const { code, out } = await cascade(['check', broken]);
  expect(code).toBe(1);
  expect(out).toContain(`${broken}:2:8: error: `);
  expect(out).toContain('[cascade.lang.syntax]');
  expect(out).toMatch(/return \]\n\s*(\d*\s*\|)?\s*\^/);
  expect(out).toMatch(/1 file, 1 error, 0 warnings\n$/);
});

test('check --syntax-only does not look at names', async () => {
  const path = await file('undeclared.proc', UNDECLARED);
  expect((await cascade(['check', path])).code).toBe(1);
  expect((await cascade(['check', '--syntax-only', path])).code).toBe(0);
});

test('check shows five errors of a file with five carets, each at its place', async () => {
  const lines = [
    'PROCEDURE five(pump)',
    'var x = (1 +)',
    'if (pmup) { x = 1 }',
    'DELETE Pump',
    'var map = 2',
    'log = pump === 1',
    'return 7',
  ];
  const path = await file('five.proc', lines.join('\n'));
  const { code, out } = await cascade(['check', path]);
  expect(code).toBe(1);
  const places = [...out.matchAll(/five\.proc:(\d+:\d+): error: /g)].map((match) => match[1]);
  expect(places).toEqual(['2:13', '3:5', '4:1', '5:5', '6:12']);
  const carets = [...out.matchAll(/^\d+ \| (.*)\n *\| ( *)(\^+)$/gm)].map(([, line = '', blanks = '', marks = '']) =>
    line.slice(blanks.length, blanks.length + marks.length),
  );
  expect(carets).toEqual([')', 'pmup', 'DELETE Pump', 'map', '===']);
});

test('check takes types and procedures from a project, a folder, a file, or the project around the files', async () => {
  const project = join(folder, 'project');
  for (const part of ['types', 'rules', 'procedures']) await mkdir(join(project, part), { recursive: true });
  const type = JSON.stringify({ name: 'Pump', properties: { rate: { type: 'Integer' } } });
  await file('project/types/Pump.json', type);
  await file('project/procedures/double.proc', 'PROCEDURE double(n Integer REQUIRED): Integer\nreturn n * 2');
  const rule = 'RULE r WHEN INSERT OCCURS ON Pump AS p WHERE p.rtae > 1\nlog.info(p.raet + double())';
  const within = await file('project/rules/r.rule', rule);
  const outside = await file('r.rule', rule);
  const warnings = async (...args: string[]): Promise<string[]> => {
    const { code, out } = await cascade(['check', '--json', ...args]);
    expect(code).toBe(0);
    const { files } = JSON.parse(out) as { files: { diagnostics: { code: string; line: number; column: number }[] }[] };
    return files.flatMap(({ diagnostics }) => diagnostics.map((d) => `${d.code.slice(14)} ${d.line}:${d.column}`));
  };
  const properties = ['property.unknown 1:46', 'property.unknown 2:12'];
  const all = [...properties, 'argument.missing 2:19'];
  expect(await warnings(outside)).toEqual([]);
  expect(await warnings(within)).toEqual(all);
  expect(await warnings('--types', project, outside)).toEqual(all);
  expect(await warnings('--types', join(project, 'types'), outside)).toEqual(properties);
  expect(await warnings('--types', join(project, 'types/Pump.json'), outside)).toEqual(properties);
  expect(await cascade(['check', '--types', join(folder, 'nowhere'), outside])).toMatchObject({ code: 2 });
  const none = await file('project/types/None.json', '[null]');
  expect(await cascade(['check', '--types', project, outside])).toMatchObject({
    code: 2,
    err: `${none} holds something else than JSON objects: a definition is one.\n`,
  });
});

test('format writes the standard form and keeps comments; --check writes nothing', async () => {
  const path = await file('loose.proc', 'procedure loose(n)\n// why\nif(n){return 1}else{return 2} // so');
  const standard = 'PROCEDURE loose(n)\n// why\nif (n) {\n  return 1\n} else {\n  return 2\n} // so\n';
  expect(await cascade(['format', '--check', path])).toEqual({ code: 1, out: `${path} is not in its standard form\n`, err: '' });
  expect(await cascade(['format', path])).toEqual({ code: 0, out: `${path}\n`, err: '' });
  expect(await readFile(path, 'utf8')).toBe(standard);
  expect(await cascade(['format', '--check', path])).toEqual({ code: 0, out: '', err: '' });
  const broken = await file('bad.proc', BROKEN);
  const { code, err } = await cascade(['format', broken]);
  expect([code, await readFile(broken, 'utf8')]).toEqual([1, BROKEN]);
  expect(err).toContain(`${broken}:2:8: error`);
});

test('compile prints the JavaScript, or why there is none', async () => {
  const good = await cascade(['compile', await file('good.proc', PROCEDURE)]);
  expect(good).toMatchObject({ code: 0, err: '' });
  expect(good.out).toMatch(/^\(function \(\$rt\)/);
  const broken = await cascade(['compile', await file('broken.proc', BROKEN)]);
  expect([broken.code, broken.out]).toEqual([1, '']);
  expect(broken.err).toContain('cascade.lang.syntax');
});

test('the program itself passes its arguments on and ends with the exit code', async () => {
  const bin = join(import.meta.dirname, '../../bin/cascade.js');
  const ended = await promisify(execFile)(process.execPath, [bin, 'nonsense']).catch((error: unknown) => error);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown command') as string });
});

test('builtins lists those with the prefix, for people and as JSON', async () => {
  const { code, out } = await cascade(['builtins', 'math.floor']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^Math\.floor\(\w+: [\w|]+\) => \w+\n {4}\S.*\n$/)]);
  const all = JSON.parse((await cascade(['builtins', '--json'])).out) as { name: string; effect: string; errors: string[] }[];
  expect(all.length).toBeGreaterThan(300);
  expect(all.find(({ name }) => name === 'trim')).toMatchObject({ call: 'trim(str: String) => String', forms: 'FM', effect: 'pure' });
  expect(all.find(({ name }) => name === 'ResourceAPI.executeOp')).toMatchObject({ effect: 'suspends' });
  expect((await cascade(['builtins', 'nothingIsCalledSo'])).code).toBe(1);
});
