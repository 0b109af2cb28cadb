// `cascade replay`: a recorded run once more, in a sandbox of this process and without the service's store: each request is answered as it
// was, so the run goes the same way to the same end. Each request is shown with its values.
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { type CompiledProcedure, compile, originalPosition } from '../../compiler/index.ts';
import { eventObjectJson } from '../../runtime/event-object.ts';
import { openSandbox, type Program, type ResolvedProcedure, type RunFailure } from '../../runtime/sandbox/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { openRemote, type Remote, type RemoteOptions } from './remote.ts';
import type { Terminal } from './terminal.ts';

interface Recorded {
  readonly invocation: string;
  readonly namespace: string;
  readonly run: string;
  readonly executable: { resource: string; service: string | null; username: string; program: Program; map: string };
  readonly event: { uuid: string; path: string; value: string; at: string; attempt?: number; redelivered?: boolean };
  readonly binds: 'event' | 'value';
  readonly startedAt: number;
  readonly steps: readonly { site: string; nth: number; kind: string; payload: string; answer: Answer; at: number }[];
  readonly error: { code: string; message: string; line: number | null } | null;
}
type Answer = Parameters<Awaited<ReturnType<typeof openSandbox>>['answer']>[1];

/** @param id the invocation (as in logs and snapshots), or the uuid of the event. @returns 0 when it ended as it was recorded */
export async function replay(id: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const remote = await openRemote(options);
  const recorded = (await remote.command('rules', id, 'recording', null)) as Recorded;
  const { executable, event, namespace } = recorded;
  terminal.out(`${executable.resource} for ${event.path} ${shown(event.value)}\n`);
  const sandbox = await openSandbox({
    lanes: 1,
    log: pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true })),
    resolveProcedure: (_namespace, name) => procedureOf(remote, name),
  });
  try {
    const attempt = event.attempt ?? 1;
    const { binds } = recorded;
    const facts = {
      uuid: event.uuid,
      path: event.path,
      atMs: Date.parse(event.at),
      redelivered: event.redelivered ?? attempt > 1,
      deliveryCount: attempt,
    };
    const failure = await new Promise<RunFailure | string | null>((resolve) => {
      const left = new Map(recorded.steps.map((step) => [`${step.site}.${step.nth}`, step]));
      sandbox.start({
        id: recorded.run,
        namespace,
        program: executable.program,
        argsJson: '[]',
        event: { key: event.uuid, binds, json: binds === 'value' ? event.value : eventObjectJson(facts, event.value, namespace) },
        opts: {
          at: recorded.startedAt,
          seed: createHash('sha256').update(recorded.run).digest('hex'),
          level: 0,
          namespace,
          username: executable.username,
          resource: executable.resource,
          service: executable.service,
        },
        observer: {
          op(site, nth, kind, payload) {
            const step = left.get(`${site}.${nth}`);
            if (!step) return resolve(`it asks for ${kind} ${shown(payload)}, which the record does not have`);
            const same = step.payload === payload ? '' : `  (recorded: ${shown(step.payload)})`;
            terminal.out(`  ${kind} ${shown(payload)}${same}\n    → ${answered(step.answer)}\n`);
            sandbox.answer(recorded.run, step.answer, step.at);
          },
          log: (_k, level, text) => terminal.out(`  log ${level} ${text}\n`),
          done: () => resolve(null),
          fail: resolve,
        },
      });
    });
    return ended(recorded, failure, terminal);
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

function ended({ error, executable }: Recorded, failure: RunFailure | string | null, terminal: Terminal): number {
  if (typeof failure === 'string') {
    terminal.out(`${failure}\n`);
    return 1;
  }
  const frame = failure?.frames.find(({ mod }) => mod === executable.program.module.hash);
  const place = frame && originalPosition(executable.map, frame.line, frame.column);
  terminal.out(
    failure
      ? `${failure.code}: ${failure.message}${place ? ` (line ${place.line}, column ${place.column})` : ''}\n`
      : 'it came to its end\n',
  );
  const isSame = (failure?.code ?? null) === (error?.code ?? null);
  terminal.out(
    isSame ? 'as it was recorded\n' : `it was recorded with ${error ? `${error.code}: ${error.message}` : 'an end without an error'}\n`,
  );
  return isSame ? 0 : 1;
}

const LONGEST = 400;

/** Values as people read them; the marks of inner JSON stay out of sight. */
function shown(json: string): string {
  const text = json.replaceAll(/"\\u0001[a-z]([^"]*)"/g, '$1');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const answered = (answer: Answer): string =>
  'ok' in answer ? shown(answer.ok) : 'list' in answer ? shown(answer.list) : `${answer.error.code}: ${answer.error.message}`;

/** Procedures are taken as the service has them now: a run names them only. */
async function procedureOf(remote: Remote, name: string): Promise<ResolvedProcedure | null> {
  const found = await remote.get('procedures', name);
  if (!found) return null;
  const compiled = compile(String(found['ruleText']), { builtins: builtinTable(), kind: 'procedure' });
  if (!compiled.ok) return null;
  const unit = compiled.unit as CompiledProcedure;
  const hash = createHash('sha256').update(unit.module.source).digest('hex');
  const program = { id: `${hash}-${name}`, module: { hash, source: unit.module.source }, constantsJson: unit.module.constants };
  return {
    name: unit.name,
    program,
    private: unit.private,
    service: unit.serviceName,
    parameters: [...unit.parameters],
    returns: unit.returns,
  };
}
