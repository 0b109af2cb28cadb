// A service of programs alone: rules and procedures are registered, procedures are executed, by the same paths and with the same answers
// as the whole service gives, in one process and without a store, a sandbox or users. For conformance cases that need no more
// (`npm run conformance -- --in-process`), for seeded faults and for mutants.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import vm from 'node:vm';
import type { CompiledProcedure } from '../../compiler/index.ts';
import { builtinTable, isBuiltinService } from '../../stdlib/builtins/index.ts';
import { CascadeError, langError } from '../../stdlib/errors.ts';
import {
  createDriver,
  type In,
  type ProcedureInfo,
  type RunId,
  refuseLambdasAsJson,
  type StartOptions,
  type WireError,
} from '../../stdlib/isolate/index.ts';
import { decodeInner, encodeInner, isObject, type Value } from '../../stdlib/values/index.ts';
import { CascadeErrors, errorDocument, apiError } from '../../model/errors/api-errors.ts';
import { readOutbox } from '../../sandbox/outbox.ts';
import { compileText } from '../../runtime/programs/programs.ts';
import { parseJson, toJson } from '../../model/values/index.ts';

/** Slices of 100,000 turns that one call may take. */
const MOST_SLICES = 2_000;
const SLICE_FUEL = 100_000;
/** What a run asks for that is not here. */
const UNAVAILABLE = 'cascade.operation.unknown';

class ProgramsOnly {
  #driver = createDriver();
  readonly #procedures = new Map<string, { info: ProcedureInfo; unit: CompiledProcedure }>();
  #loaded = 0;
  #runs = 0;

  answer(method: string, path: string, body: string): { status: number; body: string } {
    try {
      return { status: 200, body: this.#answer(method, path, body) };
    } catch (error) {
      if (error instanceof CascadeErrors) return { status: error.status, body: documents(error.errors) };
      if (error instanceof CascadeError) return { status: error.status, body: documents([error]) };
      throw error;
    }
  }

  #answer(method: string, path: string, body: string): string {
    if (path === '/authenticate') return '{"accessToken":"none"}';
    const [, kind, name] = /^\/api\/v1\/resources\/(procedures|rules)(?:\/(.*))?$/.exec(path) ?? [];
    if (method === 'POST' && kind === 'procedures' && name === undefined) return this.#register(body);
    if (method === 'POST' && kind === 'rules') return this.#compileRule(body);
    if (method === 'POST' && name !== undefined) return this.#execute(decodeURIComponent(name), body);
    if (method === 'DELETE' && name !== undefined) return this.#remove(decodeURIComponent(name));
    throw new CascadeError(UNAVAILABLE, `${method} ${path} needs the whole service.`, [path], 501);
  }

  #register(text: string): string {
    const unit = compileText(text, 'procedure') as CompiledProcedure;
    if (builtinTable().has(unit.name) || isBuiltinService(unit.serviceName ?? ''))
      throw langError('cascade.procedure.name.builtin', unit.name);
    const program = `p${this.#loaded}`;
    const mod = `m${this.#loaded++}`;
    const factory: unknown = vm.runInThisContext(unit.module.source, { filename: `cascade:${mod}` });
    this.#driver.define(mod, factory as never);
    const { name, parameters, returns, serviceName: service } = unit;
    const info: ProcedureInfo = { name, program, private: unit.private, service, parameters: [...parameters], returns };
    this.#procedures.set(name, { info, unit });
    this.#driver.step(
      JSON.stringify([
        ['bind', program, mod, JSON.parse(unit.module.constants)],
        ['forget', name],
      ]),
    );
    const visibility = unit.private ? 'PRIVATE' : 'PUBLIC';
    const description = unit.description ? { description: unit.description } : {};
    return JSON.stringify({ name, ruleText: text, visibility, ...description, compileWarnings: unit.warnings });
  }

  #compileRule(text: string): string {
    const unit = compileText(text, 'rule');
    if (unit.kind !== 'rule') throw new TypeError('a rule was asked for');
    return JSON.stringify({ name: unit.fullName, version: unit.version, ruleText: text, active: true });
  }

  #remove(name: string): string {
    if (this.#procedures.delete(name)) this.#driver.step(JSON.stringify([['forget', name]]));
    return '{}';
  }

  #execute(name: string, body: string): string {
    const procedure = this.#procedures.get(name);
    if (!procedure) throw apiError('cascade.resource.not.found', `/procedures/${name}`);
    if (procedure.info.private) throw langError('cascade.procedure.private', name);
    const args = body === '' ? [] : parseJson(body);
    if (!Array.isArray(args) && !isObject(args)) throw apiError('cascade.request.body.invalid', 'arguments are an array or an object', 0);
    const id = this.#runs++;
    const list = Array.isArray(args) ? (JSON.parse(encodeInner(args)) as unknown[]) : [];
    const named = isObject(args) ? (JSON.parse(encodeInner(args)) as Record<string, unknown>) : null;
    const first: In = ['startProcedure', id, name, named ? null : list, named, options(name)];
    return toJson(this.#drive(id, first));
  }

  /** A program must not catch what only this service lacks. */
  #giveUp(id: RunId, kind: string): never {
    this.#driver.step(JSON.stringify([['drop', id]]));
    throw new CascadeError(UNAVAILABLE, `${kind} needs the whole service.`, [kind], 501);
  }

  /** Runs to the end. @throws CascadeError what escaped */
  #drive(id: RunId, first: In): Value {
    let batch = [first];
    let slices = 0;
    for (;;) {
      const items = readOutbox(this.#driver.step(JSON.stringify(batch)));
      if (items.length === 0) throw new Error(`run ${id} neither ends nor asks for anything`);
      batch = [];
      for (const item of items) {
        if (item[0] === 'done') return decodeInner(item[2]);
        if (item[0] === 'ended') return null;
        if (item[0] === 'fail') throw thrown(item[2]);
        if (item[0] === 'resolve') batch.push(['procedure', item[2], this.#procedures.get(item[2])?.info ?? null]);
        else if (item[0] === 'op') return this.#giveUp(id, item[4]);
        else if (item[0] === 'slice')
          batch.push(
            ++slices < MOST_SLICES ? ['go', id, Date.now()] : ['err', id, limit('cascade.execution.timeout', String(id)), Date.now()],
          );
      }
    }
  }
}

const options = (name: string): StartOptions => ({
  at: Date.now(),
  seed: String(Math.random()),
  fuel: SLICE_FUEL,
  namespace: 'main',
  username: 'admin',
  resource: `/procedures/${name}`,
});

const limit = (code: 'cascade.execution.timeout', resource: string): WireError => {
  const { message, params, status } = langError(code, resource, MOST_SLICES);
  return { code, message, params, status };
};
const thrown = ({ code, message, params, status }: WireError): CascadeError =>
  new CascadeError(code, message, decodeInner(JSON.stringify(params)) as Value[], status);

const documents = (errors: readonly CascadeError[]): string => toJson(errors.map(errorDocument) as unknown as Value);

/** Not yet listening. */
export function programsServer(): Server {
  refuseLambdasAsJson();
  const service = new ProgramsOnly();
  return createServer((request: IncomingMessage, reply: ServerResponse) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      let answer: { status: number; body: string };
      try {
        answer = service.answer(request.method ?? 'GET', (request.url ?? '/').replace(/\?.*$/, ''), Buffer.concat(parts).toString('utf8'));
      } catch (error) {
        answer = { status: 500, body: JSON.stringify([{ code: 'cascade.server.error', message: (error as Error).stack, params: [] }]) };
      }
      reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
}
