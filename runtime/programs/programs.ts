// Compiles the source of a rule or procedure to a program for the sandbox, and stores programs that events name (an interrupted run
// continues with the text that it began with).

import { boundedCache } from '../../platform/structures/index.ts';
import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import { type Compiled, type CompiledModule, compile, type Diagnostic, isVerified, type ServiceStateNames } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { CascadeErrors } from '../../model/errors/index.ts';
import type { Executable } from './executable.ts';
import type { Program } from '../../sandbox/index.ts';

/**
 * Compiles at once: for texts of the service and of tests, and at a start. Those of clients are compiled by `Compiler`.
 * @param ofService whether the text may use names that are reserved for the service
 * @param stateOf gives the state variables of a service (language.md 8)
 * @throws CascadeErrors one for each diagnostic that is an error
 */
export function compileText(
  source: string,
  kind: 'rule' | 'procedure',
  ofService = false,
  stateOf: (service: string) => ServiceStateNames | null = () => null,
): CompiledUnit {
  return unitOf(compile(source, { builtins: builtinTable(), kind, ofService, stateOf }));
}

export type CompiledUnit = (Compiled & { ok: true })['unit'];

/** @throws CascadeErrors one for each diagnostic that is an error */
export function unitOf(compiled: Compiled): CompiledUnit {
  if (!compiled.ok) throw new CascadeErrors(compiled.diagnostics.filter(({ severity }) => severity === 'error').map(toError));
  return compiled.unit;
}

function toError({ code, message, params, hint, frame, line, column }: Diagnostic): CascadeError {
  const text = `Line ${line}, column ${column}: ${message.replace(/\.$/, '')}.`;
  return new CascadeError(
    code,
    `${hint ? `${text} Hint: ${hint.replace(/[.?]$/, '')}${hint.endsWith('?') ? '?' : '.'}` : text}\n${frame}`,
    [...params],
    400,
  );
}

/**
 * The program of a module. Rules that differ in literals only share the module; a procedure's has its name in the hash, since
 * places in errors are looked up by module.
 */
export function programOf({ source, constants, reads = null }: CompiledModule, owner: string): Program {
  const hash = sha256(`${owner}\n${source}`);
  const module = MODULES.get(hash) ?? { hash, source, reads };
  MODULES.set(hash, module);
  return { id: sha256(`${hash}\n${constants}`), module, constantsJson: constants };
}

/** Programs that share a module hold one text of it. */
const MODULES = boundedCache<string, Program['module']>(10_000);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface StoredProgram {
  /** The rule and the program: rules may share one. */
  readonly _id: string;
  readonly program: Program;
  readonly resource: string;
  readonly name: string;
  readonly map: string;
  readonly service: string | null;
  /** The user that the rule ran as. */
  readonly username: string;
  /** The epoch of the owner that stored it; absent: an earlier version did. */
  readonly epoch?: number;
}

export const executableKey = (rule: string, program: string): string => `${rule} ${program}`;

/** Stores a rule's compiled text, so that events may name it. @param epoch the epoch of the owner */
export async function keepExecutable(
  db: Db,
  { program, resource, name, map, service, identity }: Executable,
  epoch: number,
): Promise<void> {
  const stored = { program, resource, name, map, service, username: identity.username, epoch };
  await db.collection<StoredProgram>('programs').updateOne({ _id: executableKey(name, program.id) }, { $set: stored }, { upsert: true });
}

/** The text that a run began with; null when it is not stored, or no compiler can have written it. */
export async function readExecutable(db: Db, namespace: string, rule: string, program: string): Promise<Executable | null> {
  const found = await db.collection<StoredProgram>('programs').findOne({ _id: executableKey(rule, program) });
  if (!found || !isVerified(found.program.module.source)) return null;
  const { resource, name, map, service, username } = found;
  return { program: found.program, resource, name, map, service, identity: { username, namespace, profiles: [] } };
}
