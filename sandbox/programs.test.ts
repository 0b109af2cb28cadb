// Compiled programs in the real isolates: compiler, built-ins, driver and sandbox together.
import { expect, test } from 'vitest';
import { compile } from '../compiler/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { exists, type Asked, type Ended, openRoom, pause, program, run } from './testing/room.ts';
import type { Program, Reply, ResolvedProcedure, Sandbox } from './types.ts';

const procedures = new Map<string, ResolvedProcedure>();
/** The limits of time are for what must not meet them, on a machine however busy. */
const openReal = ({ stepTimeoutMs = 120_000, cpuTimeMs = 120_000 } = {}): Promise<Sandbox> =>
  openRoom({
    bundle: undefined,
    memoryLimitMb: 128,
    memoryBytes: 40 * 1024 * 1024,
    stepTimeoutMs,
    cpuTimeMs,
    resolveProcedure: (_namespace, name) => Promise.resolve(procedures.get(name) ?? null),
  });

function load(text: string): Program {
  const compiled = compile(text, { builtins: builtinTable() });
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'));
  const { unit } = compiled;
  const { source, constants } = unit.module;
  const loaded: Program = { id: source + constants, module: { hash: source, source }, constantsJson: constants };
  if (unit.kind === 'procedure')
    procedures.set(unit.name, {
      name: unit.name,
      program: loaded,
      private: unit.private,
      service: unit.serviceName,
      parameters: [...unit.parameters],
      returns: unit.returns,
    });
  return loaded;
}

const call = (sandbox: Sandbox, procedure: string, args: unknown[] = [], answer?: (asked: Asked) => Reply | Promise<Reply>) =>
  run(sandbox, program(''), { program: null, procedure, args }, answer);

test('a rule takes its event and asks for what it does', async () => {
  await using sandbox = await openReal();
  const rule = load('RULE hot WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 90 INSERT Alarm(pump: p.name, at: p.rate + 1)');
  const event = { key: 'e', binds: 'value' as const, json: '{"name":"P1","rate":95}' };
  const opts = { namespace: 'main', username: '', resource: '/rules/hot' };
  const { ops, failure } = await run(sandbox, rule, { event, opts });
  expect(failure).toBeUndefined();
  expect(ops).toMatchObject([{ kind: 'insert', payload: { resource: 'Alarm', values: { pump: 'P1', at: 96 } } }]);
});

test('procedures call each other, and a changed one is called as it is now', async () => {
  await using sandbox = await openReal();
  load('PROCEDURE twice(n Integer)\nreturn inner(n: n) * 2');
  load('PROCEDURE inner(n Integer)\nreturn n + 1');
  expect((await call(sandbox, 'twice', [4])).value).toBe(10);
  load('PROCEDURE inner(n Integer)\nreturn n + 100');
  sandbox.procedureChanged('main', 'inner');
  expect((await call(sandbox, 'twice', [4])).value).toBe(208);
  expect((await call(sandbox, 'nobody')).failure).toMatchObject({ code: expect.stringContaining('procedure') });
});

test('a run that is repeated after a kill sees the same time and chance, and asks for nothing twice', async () => {
  await using sandbox = await openReal();
  load(`PROCEDURE work(n Integer)
    var seen = [uuid(), Math.random(1, 1000000), now()]
    for (i in range(1, 6, 1)) {
      var t = 0
      for (k in range(1, 30000, 1)) { t = t + k }
      INSERT Thing(n: n, i: i, t: t, id: uuid())
      seen.push(now())
    }
    return seen`);
  const work = (): Promise<Ended[]> =>
    Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        const opts = { namespace: 'main', username: '', resource: '/procedures/work' };
        let at = 2000;
        const ended = run(
          sandbox,
          program(''),
          { program: null, procedure: 'work', args: [n], at: 1000 + n, seed: `seed ${n}`, opts },
          async () => {
            await pause(25);
            sandbox.answer(ended.open, { ok: 'null' }, (at += 1));
            return { ok: 'null' }; // comes too late
          },
        );
        return ended;
      }),
    );
  const undisturbed = await work();
  expect(undisturbed[0]?.failure).toBeUndefined();
  const again = work();
  for (let kills = 0; kills < 3; kills += 1) {
    await pause(60);
    const pid = sandbox.pid();
    if (exists(pid)) process.kill(pid as number, 'SIGKILL');
  }
  const disturbed = await again;
  expect(disturbed.map(({ value, failure, ops }) => ({ value, failure, ops }))).toEqual(
    undisturbed.map(({ value, failure, ops }) => ({ value, failure, ops })),
  );
  expect(undisturbed[0]?.ops).toHaveLength(5);
  expect(sandbox.stats().replays).toBeGreaterThan(0);
});

const excesses = [
  { does: 'grows an array', body: 'var a = [] while (true) { a.push({x: 1, y: "abc"}) }', code: 'cascade.execution.memory' },
  { does: 'nests arrays', body: 'var a = [] while (true) { a = [a] }', code: 'cascade.execution.memory' },
  { does: 'assigns past the end', body: 'var a = [] a[60000000] = 1', code: 'cascade.execution.memory' },
  { does: 'grows a string', body: 'var s = "x" while (true) { s = s + s }', code: 'cascade.lang.string.size' },
  { does: 'squares a number', body: 'var n = 3 while (true) { n = n * n }', code: 'cascade.lang.arithmetic.overflow' },
  { does: 'calls itself', body: 'return calls_itself()', code: 'cascade.execution.depth' },
];

test('excess ends the run alone: no isolate is lost, no process ends', async () => {
  await using sandbox = await openReal();
  for (const { does, body } of excesses) load(`PROCEDURE ${does.replaceAll(' ', '_')}()\n${body}`);
  const pid = sandbox.pid();
  const ends = await Promise.all(excesses.map(({ does }) => call(sandbox, does.replaceAll(' ', '_'))));
  expect(ends.map(({ failure }, i) => [excesses[i]?.does, failure?.code])).toEqual(excesses.map(({ does, code }) => [does, code]));
  expect(ends.some(({ failure }) => failure?.poison)).toBe(false);
  expect([sandbox.pid(), sandbox.stats().deaths]).toEqual([pid, 0]);
});

test('a loop without an end meets its limit of time, alone', async () => {
  await using sandbox = await openReal({ stepTimeoutMs: 500, cpuTimeMs: 1_000 });
  load('PROCEDURE loops_for_ever()\nvar i = 0 while (true) { i = i + 1 }');
  const pid = sandbox.pid();
  const { failure } = await call(sandbox, 'loops_for_ever');
  expect(failure).toMatchObject({ code: 'cascade.execution.timeout' });
  expect(failure?.poison ?? false).toBe(false);
  expect([sandbox.pid(), sandbox.stats().deaths]).toEqual([pid, 0]);
});
