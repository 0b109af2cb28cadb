// One sandbox for the engines of all test files of a worker, as a service has one for all its namespaces: to start a process of its own costs an
// engine more than most tests do.
import pino from 'pino';
import { systemClock } from '../../platform/clock/index.ts';
import { openSandbox, type OpenRun, type Sandbox, type SandboxOptions } from '../../sandbox/index.ts';

type Resolve = SandboxOptions['resolveProcedure'];

let opened: Promise<Sandbox> | undefined;
/** By namespace, which has a name of its own in each engine. */
const resolves = new Map<string, Resolve>();

const open = (): Promise<Sandbox> =>
  (opened ??= openSandbox({
    lanes: 2,
    opensWithProgram: true,
    log: pino({ level: process.env['CASCADE_TEST_LOG'] ?? 'silent' }),
    resolveProcedure: async (namespace, name) => (await resolves.get(namespace)?.(namespace, name)) ?? null,
  }));

/** The part of it that an engine has: when the engine closes, the runs that it has left are dropped. */
export async function shareSandbox({ resolveProcedure, clock = systemClock }: SandboxOptions): Promise<Sandbox> {
  const sandbox = await open();
  const namespaces = new Set<string>();
  const runs = new Set<OpenRun>();
  return {
    prepare: () => sandbox.prepare(),
    start(request) {
      namespaces.add(request.namespace);
      resolves.set(request.namespace, resolveProcedure);
      const run = sandbox.start(request);
      runs.add(run);
      return run;
    },
    drop: (run) => sandbox.drop(run),
    answer: (run, reply, at = clock.now()) => sandbox.answer(run, reply, at),
    procedureChanged: (namespace, name) => sandbox.procedureChanged(namespace, name),
    pid: () => sandbox.pid(),
    stats: () => sandbox.stats(),
    async [Symbol.asyncDispose]() {
      for (const run of runs) sandbox.drop(run);
      for (const namespace of namespaces) resolves.delete(namespace);
    },
  };
}
