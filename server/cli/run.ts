// `cascade run`: runs one file in the sandbox, without a server. There is no store, so requests that need one are refused.
import { createHash, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type CompiledProcedure, type CompiledRule, originalPosition } from '../../compiler/index.ts';
import { answerAlone } from '../../features/builtins/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { openSandbox, type Program, type ResolvedProcedure, type RunFailure, type RunRequest, type Sandbox } from '../../sandbox/index.ts';
import { StateStore } from '../../runtime/shared-state/index.ts';
import { parseJson, toJson } from '../../model/values/index.ts';
import { toWireError } from '../../runtime/runs/index.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { compiled } from './compile.ts';
import { errorOutput } from './log.ts';
import { type Terminal, UsageError } from './terminal.ts';

type Unit = CompiledRule | CompiledProcedure;
type Start = Pick<RunRequest, 'program' | 'procedure' | 'argsJson' | 'namedJson'>;

/**
 * @param argsText JSON: a procedure's arguments, positional in an array or named in an object; a rule's event
 * @returns 0, or 1 when the file does not compile or its run fails
 */
export async function runFile(file: string, argsText: string | undefined, terminal: Terminal): Promise<number> {
  const args = argsText === undefined ? undefined : parsed(argsText);
  const unit = await compiled(file, terminal);
  if (!unit) return 1;
  const program = programOf(unit);
  const start = unit.kind === 'procedure' ? procedureStart(unit, args) : ruleStart(unit, program, args);
  const sandbox = await openSandbox({
    lanes: 1,
    log: pino({ level: 'warn' }, errorOutput()),
    resolveProcedure: async (_namespace, name) => (unit.kind === 'procedure' && name === unit.name ? resolved(unit, program) : null),
  });
  try {
    const ended = await oneRun(sandbox, start, resourceOf(unit), serviceOf(unit), terminal);
    if ('value' in ended) {
      terminal.out(`${toJson(ended.value)}\n`);
      return 0;
    }
    terminal.err(`${file}${placeOf(ended.failure, unit, program)}: ${ended.failure.code}: ${ended.failure.message}\n`);
    return 1;
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

/** Runs a program once. Gives its value or failure; its log messages go to standard error. */
function oneRun(
  sandbox: Sandbox,
  start: Start,
  resource: string,
  service: string | null,
  terminal: Terminal,
): Promise<{ value: Value } | { failure: RunFailure }> {
  const id = randomUUID();
  const state = new StateStore(() => null, { owner: 'main', clock: systemClock, evicted: () => undefined });
  return new Promise((resolve) => {
    const open = sandbox.start({
      id,
      namespace: 'main',
      ...start,
      at: Date.now(),
      seed: randomUUID(),
      opts: { level: 0, namespace: 'main', username: 'system', resource, service },
      observer: {
        op: (_site, _nth, kind, payloadJson) => {
          answerTo(kind, decodeInner(payloadJson) as ObjectValue, state, id).then(
            (answer) => sandbox.answer(open, answer),
            (error: unknown) => sandbox.answer(open, { error: toWireError(error) }),
          );
        },
        log: (_k, level, text) => terminal.err(`${level} ${text}\n`),
        done: (valueJson) => resolve({ value: decodeInner(valueJson) }),
        fail: (failure) => resolve({ failure }),
      },
    });
  });
}

/** Answers requests for shared objects, and built-ins that need no store. @throws CascadeError for all others */
async function answerTo(kind: string, payload: ObjectValue, state: StateStore, run: string): Promise<Answer> {
  if (kind === 'state') return state.perform(payload, { run, keep: () => undefined });
  const name = kind === 'builtin' ? String(getOwn(payload, 'name')) : kind;
  const answer = kind === 'builtin' ? answerAlone(name, getOwn(payload, 'args') as Value[]) : null;
  if (!answer) throw apiError('cascade.method.not.allowed', name, 'cascade run, which has no store');
  return answer;
}

function procedureStart({ name }: CompiledProcedure, args: Value | undefined): Start {
  if (args !== undefined && !Array.isArray(args) && !isObject(args))
    throw new UsageError('The arguments of a procedure are a JSON array, or a JSON object with their names.');
  const named = args !== undefined && !Array.isArray(args) ? encodeInner(args) : null;
  return { program: null, procedure: name, argsJson: Array.isArray(args) ? encodeInner(args) : '[]', namedJson: named };
}

/** Starts a rule with the event in each of its variables; for a rule with several, an array has one event for each. */
function ruleStart({ variables }: CompiledRule, program: Program, event: Value | undefined): Start {
  if (event === undefined) throw new UsageError('A rule needs its event: --args JSON.');
  if (variables.length === 1) return { program, argsJson: encodeInner([event]) };
  if (!Array.isArray(event) || event.length !== variables.length)
    throw new UsageError(`This rule has ${variables.length} events (${variables.join(', ')}): --args takes an array of them.`);
  return { program, argsJson: encodeInner(event) };
}

function programOf({ module }: Unit): Program {
  const hash = sha256(module.source);
  return { id: sha256(`${hash}\n${module.constants}`), module: { hash, source: module.source }, constantsJson: module.constants };
}

const resolved = (unit: CompiledProcedure, program: Program): ResolvedProcedure => ({
  name: unit.name,
  program,
  private: false, // a private procedure may be called, since the caller has the file
  service: unit.serviceName,
  parameters: [...unit.parameters],
  returns: unit.returns,
});

const resourceOf = (unit: Unit): string => (unit.kind === 'rule' ? `/rules/${unit.fullName}` : `/procedures/${unit.name}`);
const serviceOf = (unit: Unit): string | null => (unit.kind === 'rule' ? unit.package : unit.serviceName);

/** The place of the failure, `:line:column` of the text, where it is known. */
function placeOf({ frames }: RunFailure, { module }: Unit, program: Program): string {
  const frame = frames.find(({ mod }) => mod === program.module.hash); // the frames above are built-ins
  const place = frame && originalPosition(module.map, frame.line, frame.column);
  return place ? `:${place.line}:${place.column}` : '';
}

function parsed(text: string): Value {
  try {
    return parseJson(text);
  } catch (error) {
    throw new UsageError(`--args is no JSON: ${(error as Error).message}`);
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
