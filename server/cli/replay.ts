// `cascade replay`: repeats a recorded run in a sandbox of this process and without the service's store: each request gets its recorded
// answer, so the run takes the same way to the same end. The output shows its lines with the values that they change, and its requests with
// their answers.
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { type Compiled, compile, originalPosition, type ServiceStateNames } from '../../compiler/index.ts';
import { openSandbox, type Program, type ResolvedProcedure, type RunFailure, type RunRequest } from '../../sandbox/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { errorOutput } from './log.ts';
import { openRemote, type Remote, type RemoteOptions } from './remote.ts';
import type { Terminal } from './terminal.ts';

interface Recorded {
  readonly executable: { resource: string; text: string | null; map?: string };
  readonly event: { path: string; value: string } | null;
  readonly given: Omit<RunRequest, 'observer' | 'at' | 'seed'> & { readonly opts: Pick<RunRequest, 'at' | 'seed'> };
  readonly steps: readonly { site: string; nth: number; kind: string; payload: string; answer: Answer; at: number }[];
  readonly error: { code: string; message: string; line: number | null } | null;
}
type Answer = Parameters<Awaited<ReturnType<typeof openSandbox>>['answer']>[1];
type Unit = (Compiled & { ok: true })['unit'];

/** Traced bodies: lines by the name of the body, source maps by the hash of the module. The recorded body is the first. */
interface Known {
  readonly texts: Map<string, string[]>;
  readonly maps: Map<string, string>;
}

/** @param id the invocation (as in logs and snapshots), or the uuid of the event. @returns 0 when the run ended as it was recorded */
export async function replay(id: string, options: RemoteOptions, terminal: Terminal): Promise<number> {
  const remote = await openRemote(options, terminal.ask);
  const recorded = (await remote.command('rules', id, 'recording', null)) as Recorded;
  const { executable, event, given } = recorded;
  const { at, seed, ...opts } = given.opts;
  terminal.out(`${executable.resource} for ${event ? `${event.path} ${shown(event.value)}` : shown(given.namedJson ?? given.argsJson)}\n`);
  const known: Known = { texts: new Map(), maps: new Map() };
  const own = ownProgram(recorded, known);
  if (given.program && !own)
    terminal.out('its text has been replaced since, or cannot be traced: its requests are shown, and not its lines\n');
  const sandbox = await openSandbox({
    lanes: 1,
    log: pino({ level: 'warn' }, errorOutput()),
    resolveProcedure: (_namespace, name) => procedureOf(remote, name, recorded, known),
  });
  try {
    const failure = await new Promise<RunFailure | string | null>((resolve) => {
      const left = new Map(recorded.steps.map((step) => [`${step.site}.${step.nth}`, step]));
      const open = sandbox.start({
        ...given,
        program: own ?? given.program,
        at,
        seed,
        opts: { ...opts, level: 0 },
        observer: {
          op(site, nth, kind, payload) {
            const step = left.get(`${site}.${nth}`);
            if (!step) return resolve(`it asks for ${kind} ${shown(payload)}, which the record does not have`);
            const same = step.payload === payload ? '' : `  (recorded: ${shown(step.payload)})`;
            terminal.out(`        ${kind} ${shown(payload)}${same}\n          → ${answered(step.answer)}\n`);
            sandbox.answer(open, step.answer, step.at);
          },
          log: (_k, level, text) => terminal.out(level === 'LINE' ? lineOf(text, known.texts) : `        log ${level} ${text}\n`),
          done: () => resolve(null),
          fail: resolve,
        },
      });
    });
    return ended(recorded, failure, known, terminal);
  } finally {
    await sandbox[Symbol.asyncDispose]();
  }
}

/** A line of the trace: `  6  x = x + 1` for a line of the program, `        x = 5` for a value. */
function lineOf(encoded: string, texts: ReadonlyMap<string, string[]>): string {
  const [body, line, ...values] = JSON.parse(encoded) as [string, number, ...[string, string][]];
  const procedure = [...texts.keys()][0] === body ? '' : `${body} `;
  if (values.length === 0) return `  ${procedure}${String(line).padStart(3)}  ${texts.get(body)?.[line - 1]?.trim() ?? ''}\n`;
  return values.map(([name, value]) => `        ${name} = ${value}\n`).join('');
}

function ended({ error, executable, given }: Recorded, failure: RunFailure | string | null, { maps }: Known, terminal: Terminal): number {
  if (typeof failure === 'string') {
    terminal.out(`${failure}\n`);
    return 1;
  }
  const mapOf = (mod: string): string | undefined => maps.get(mod) ?? (mod === given.program?.module.hash ? executable.map : undefined);
  const frame = failure?.frames.find(({ mod }) => mapOf(mod) !== undefined);
  const place = frame && originalPosition(mapOf(frame.mod) ?? '', frame.line, frame.column);
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

/** A value as people read it, without the type marks of inner JSON. */
function shown(json: string): string {
  const text = json.replaceAll(/"\\u0001[a-z]([^"]*)"/g, '$1');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const answered = (answer: Answer): string =>
  'ok' in answer ? shown(answer.ok) : 'list' in answer ? shown(answer.list) : `${answer.error.code}: ${answer.error.message}`;

// ---------------------------------------------------------------- texts

function compiled(
  text: string,
  kind: 'rule' | 'procedure',
  traced: boolean,
  stateOf: (service: string) => ServiceStateNames | null = () => null,
): Unit | null {
  const result = compile(text, { builtins: builtinTable(), kind, ofService: true, stateOf, traced });
  return result.ok ? result.unit : null;
}

/** The recorded body in its traced form; null when the stored text is not that of the run. */
function ownProgram({ executable, given }: Recorded, known: Known): Program | null {
  const { resource, text } = executable;
  const kind = resource.startsWith('/rules/') ? 'rule' : 'procedure';
  if (text === null || !given.program) return null;
  const plain = compiled(text, kind, false);
  if (plain?.module.source !== given.program.module.source || plain.module.constants !== given.program.constantsJson) return null;
  return traced(text, compiled(text, kind, true), known);
}

function traced(text: string, unit: Unit | null, known: Known): Program | null {
  if (!unit) return null;
  const { name } = unit;
  known.texts.set(name, text.split(/\r\n|\r|\n/));
  const hash = createHash('sha256').update(`${name}\n${unit.module.source}`).digest('hex');
  known.maps.set(hash, unit.module.map);
  return { id: `${hash}-${name}`, module: { hash, source: unit.module.source }, constantsJson: unit.module.constants };
}

/** The present definition of a procedure: a recording only names it. */
async function procedureOf(remote: Remote, name: string, { executable, given }: Recorded, known: Known): Promise<ResolvedProcedure | null> {
  const isOwn = given.procedure === name && executable.text !== null;
  const text = isOwn ? executable.text : (await remote.get('procedures', name))?.['ruleText'];
  if (typeof text !== 'string') return null;
  const state = await stateOf(remote, name);
  const unit = compiled(text, 'procedure', true, () => state);
  const program = traced(text, unit, known);
  if (unit?.kind !== 'procedure' || !program) return null;
  return {
    name: unit.name,
    program,
    private: unit.private,
    service: unit.serviceName,
    state: unit.state,
    parameters: [...unit.parameters],
    returns: unit.returns,
  };
}

/** The state variables of a procedure's service. */
async function stateOf(remote: Remote, procedure: string): Promise<ServiceStateNames | null> {
  const service = procedure.includes('.') ? await remote.get('services', procedure.slice(0, procedure.lastIndexOf('.'))) : null;
  if (!service) return null;
  const properties = async (type: unknown): Promise<string[] | null> => {
    const found = typeof type === 'string' ? await remote.get('types', type) : null;
    return found ? Object.keys(found['properties'] as object) : null;
  };
  return { global: await properties(service['globalType']), partitioned: await properties(service['partitionedType']) };
}
