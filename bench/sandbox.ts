// The sandbox alone: runs a second through service, pipe, lane and isolate and back, with 10-field events, beside the naive way that
// shuts nothing in (a bare child process, one message an event over Node's own channel); two lanes beside one; and the time until a killed one
// serves again.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pino } from 'pino';
import { compile } from '../compiler/index.ts';
import { openSandbox, type Program, type Sandbox } from '../sandbox/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { type Figure, timesAsMuch } from './report/index.ts';

const ROUNDS = 5;
const ROUND_MS = 1_000;
/** Runs that are open at a time. */
const OPEN = [1, 16, 256, 2_048];
const PAYLOAD = {
  name: 'P-17',
  site: 'north',
  rate: 95.5,
  level: 3,
  ok: true,
  note: null,
  tags: ['a', 'b'],
  at: 1.5,
  max: 12,
  unit: 'l/min',
};
const TEXTS = {
  'without an operation': 'RULE r WHEN INSERT OCCURS ON Pump AS p var x = p.rate + p.level',
  'with one operation': 'RULE r WHEN INSERT OCCURS ON Pump AS p INSERT Alarm(pump: p.name, rate: p.rate)',
};
/** Takes a millisecond of processor, about. */
const COMPUTES = 'RULE r WHEN INSERT OCCURS ON Pump AS p\nvar sum = 0\nfor (i in range(0, 5000, 1)) { sum = sum + i * p.level }';
const ECHO = 'process.on("message", (text) => process.send(JSON.stringify(JSON.parse(text))));';

export async function sandbox(): Promise<Figure[]> {
  const figures: Figure[] = [];
  await using ours = await openSandbox({ log: pino({ level: 'silent' }), resolveProcedure: () => Promise.resolve(null) });
  const bare = spawn(process.execPath, ['-e', ECHO], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    for (const [what, text] of Object.entries(TEXTS)) {
      const program = programOf(text);
      for (const open of OPEN) {
        const rounds: Record<string, number[]> = { sandbox: [], 'bare process': [] };
        for (let round = -1; round < ROUNDS; round += 1) {
          const perSecond = await measure(open, runner(ours, program));
          const barePerSecond = await measure(open, echoer(bare));
          if (round < 0) continue; // the first round warms
          rounds.sandbox?.push(perSecond);
          rounds['bare process']?.push(barePerSecond);
        }
        figures.push({ name: `sandbox, runs ${what}, ${open.toLocaleString('en')} open`, unit: 'runs/s', rounds });
      }
    }
    figures.push(await twoLanes(programOf(COMPUTES)));
    figures.push(await recovery(ours, programOf(TEXTS['without an operation'])));
  } finally {
    bare.kill();
  }
  return figures;
}

function programOf(text: string): Program {
  const compiled = compile(text, { builtins: builtinTable() });
  if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message);
  const { source, constants } = compiled.unit.module;
  return { id: text, module: { hash: text, source }, constantsJson: constants };
}

/** One thing done at a time by what comes back: calls `done` when it is. */
type Task = (done: () => void) => void;

/** Things done a second while so many are always under way. */
function measure(open: number, doOne: Task): Promise<number> {
  return new Promise((resolve) => {
    const begun = performance.now();
    let under = 0;
    let count = 0;
    const next = (): void => {
      under += 1;
      doOne(() => {
        under -= 1;
        count += 1;
        if (performance.now() - begun < ROUND_MS) next();
        else if (under === 0) resolve((1_000 * count) / (performance.now() - begun));
      });
    };
    for (let i = 0; i < open; i += 1) next();
  });
}

function runner(target: Sandbox, program: Program): Task {
  let count = 0;
  const opts = { namespace: 'main', username: 'u', resource: '/rules/r' };
  const value = JSON.stringify(PAYLOAD);
  return (done) => {
    const id = `run ${(count += 1)}`;
    const open = target.start({
      id,
      namespace: 'main',
      program,
      argsJson: '[]',
      event: { key: id, binds: 'value', json: value },
      at: 1,
      seed: 's',
      opts,
      observer: {
        op: () => target.answer(open, { ok: 'null' }, 2),
        log: () => undefined,
        done,
        fail: (failure) => {
          throw new Error(failure.message);
        },
      },
    });
  };
}

function echoer(child: ChildProcess): Task {
  const waiting: (() => void)[] = [];
  child.removeAllListeners('message');
  child.on('message', () => waiting.shift()?.());
  const event = { path: '/types/Pump/insert', value: PAYLOAD };
  return (done) => {
    waiting.push(done);
    child.send(JSON.stringify(event));
  };
}

/** Rules that compute, in one worker thread and in two. */
async function twoLanes(program: Program): Promise<Figure> {
  const log = pino({ level: 'silent' });
  const resolveProcedure = (): Promise<null> => Promise.resolve(null);
  await using one = await openSandbox({ log, resolveProcedure, lanes: 1 });
  await using two = await openSandbox({ log, resolveProcedure, lanes: 2 });
  const rounds: Record<string, number[]> = { 'two lanes': [], 'one lane': [] };
  for (let round = -1; round < ROUNDS; round += 1)
    for (const [name, target] of [['two lanes', two] as const, ['one lane', one] as const]) {
      const perSecond = await measure(256, runner(target, program));
      if (round >= 0) rounds[name]?.push(perSecond);
    }
  const aims = timesAsMuch(rounds, 'two lanes', 'one lane', 1.6);
  return { name: 'sandbox, rules that compute, two lanes beside one', unit: 'runs/s', rounds, aims };
}

async function recovery(target: Sandbox, program: Program): Promise<Figure> {
  const rounds: Record<string, number[]> = { 'sandbox after kill -9': [], 'an empty process': [] };
  const run = runner(target, program);
  for (let round = 0; round < ROUNDS; round += 1) {
    const deaths = target.stats().deaths;
    const killed = performance.now();
    process.kill(target.pid() as number, 'SIGKILL');
    while (target.stats().deaths === deaths) await new Promise((resolve) => setImmediate(resolve));
    await new Promise<void>((resolve) => run(resolve));
    rounds['sandbox after kill -9']?.push(performance.now() - killed);
    const begun = performance.now();
    await once(spawn(process.execPath, ['-e', '0']), 'exit');
    rounds['an empty process']?.push(performance.now() - begun);
  }
  return { name: 'sandbox, from its death to the next result', unit: 'ms', rounds };
}
