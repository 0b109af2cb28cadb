// A cache of compiled rules and procedures in the store, so that a start need not compile them again. A row is found by the hash of the
// compiler and the text, and contains a hash of itself: output of another compiler, of another text, or truncated output is ignored, and
// the text is compiled. Rules are all read at the start; a procedure is read when it is first called. No resource of the API, no type and
// no pipeline stage names this collection. Even rows by a writer with access to the database are not trusted: code is verified again before
// it is used.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Collection, Db } from 'mongodb';
import { type CompiledProcedure, type CompiledRule, isVerified, type ServiceStateNames } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import type { CompileAsked, Compiler } from './compiler.ts';
import { type CompiledUnit, compileText } from './programs.ts';

export const COMPILATION_CACHE = 'compiled';
const BATCH_ROWS = 1_000;
const READ_MS = 2_000;

interface Row {
  readonly _id: string;
  readonly sum: string;
  /** A CompiledRule or CompiledProcedure as JSON. */
  readonly unit: string;
  /** The hash of the compiler, in rows of procedures. */
  readonly procedureOf?: string;
}

type UnitOf<Kind extends 'rule' | 'procedure'> = Kind extends 'rule' ? CompiledRule : CompiledProcedure;

export interface CompiledBy {
  /** The compiler's hash, by compilerHash(). */
  readonly hash: string;
  readonly compiler: Compiler;
  /** Told before a text of a user is compiled. */
  readonly onProgram?: () => void;
}

export class CompilationCache {
  readonly #rows: Collection<Row>;
  readonly #compiler: string;
  readonly #compile: (text: string, asked: CompileAsked) => Promise<CompiledUnit>;
  /** Rows that were read at the start and not used yet. */
  readonly #read = new Map<string, Row>();
  /** Rows that were compiled since, and are not stored yet. */
  #made: Row[] = [];
  #taken = 0;
  /** Modules that were verified since the start: rules that differ in literals only share one. */
  readonly #verified = new Set<string>();
  /** Writes of procedures in progress. */
  readonly #keeping = new Set<Promise<void>>();
  readonly #onProgram: () => void;

  private constructor(db: Db, { hash, compiler, onProgram = () => undefined }: CompiledBy) {
    this.#rows = db.collection<Row>(COMPILATION_CACHE);
    this.#compiler = hash;
    this.#onProgram = onProgram;
    this.#compile = (text, asked) => compiler.compile(db.databaseName, text, asked);
  }

  /** Reads all rows of a namespace. */
  static async open(db: Db, by: CompiledBy): Promise<CompilationCache> {
    const kept = new CompilationCache(db, by);
    await kept.#rows.deleteMany({ procedureOf: { $exists: true, $ne: by.hash } });
    const ofRules = { procedureOf: { $exists: false } };
    for await (const row of kept.#rows.find(ofRules, { batchSize: BATCH_ROWS })) kept.#read.set(row._id, row);
    return kept;
  }

  /** Number of units that were taken from the store and not compiled. */
  get taken(): number {
    return this.#taken;
  }

  /** Compiles a text that is not in force yet. @throws CascadeErrors one for each diagnostic that is an error */
  async compile<Kind extends 'rule' | 'procedure'>(text: string, asked: CompileAsked & { kind: Kind }): Promise<UnitOf<Kind>> {
    this.#onProgram();
    return (await this.#compile(text, asked)) as UnitOf<Kind>;
  }

  /** The compiled form of a stored rule's text. @throws CascadeErrors when it no longer compiles */
  load(text: string): CompiledRule {
    const id = this.#idOf(text);
    const row = this.#read.get(id);
    this.#read.delete(id);
    const unit = row && unitOf(row);
    if (unit?.kind === 'rule' && this.#isVerified(unit)) {
      this.#taken += 1;
      return unit;
    }
    const rule = compileText(text, 'rule', true) as CompiledRule;
    this.#made.push(rowOf(id, rule));
    return rule;
  }

  /** Stores the compiled form of a text, before its rule is stored. */
  async keep(text: string, rule: CompiledRule): Promise<void> {
    const { _id, ...fields } = rowOf(this.#idOf(text), rule);
    await this.#rows.updateOne({ _id }, { $set: fields }, { upsert: true });
  }

  /**
   * The compiled form of a procedure, from the store where it is cached. @param state the names of its service's state, which are its
   * variables
   * @throws CascadeErrors when the text no longer compiles
   */
  async loadProcedure(text: string, state: ServiceStateNames | null): Promise<CompiledProcedure> {
    // An unavailable or slow store must not prevent the call: then the text is compiled.
    const row = await this.#rows.findOne({ _id: this.#idOfProcedure(text, state) }, { timeoutMS: READ_MS }).catch(() => null);
    const unit = row && unitOf(row);
    if (unit?.kind === 'procedure' && this.#isVerified(unit)) {
      this.#taken += 1;
      return unit;
    }
    const procedure = await this.compile(text, { kind: 'procedure', stateOf: () => state });
    const keeping = this.keepProcedure(text, state, procedure).catch(() => undefined); // the next start compiles it again
    this.#keeping.add(keeping);
    void keeping.then(() => this.#keeping.delete(keeping));
    return procedure;
  }

  async keepProcedure(text: string, state: ServiceStateNames | null, procedure: CompiledProcedure): Promise<void> {
    const { _id, ...fields } = rowOf(this.#idOfProcedure(text, state), procedure);
    await this.#rows.updateOne({ _id }, { $set: { ...fields, procedureOf: this.#compiler } }, { upsert: true });
  }

  /** Removes the row of a procedure's text that is no longer in force. */
  async dropProcedure(text: string, state: ServiceStateNames | null): Promise<void> {
    await this.#rows.deleteOne({ _id: this.#idOfProcedure(text, state) });
  }

  /** To be called once all rules are loaded: stores new rows, and removes those that no rule used. Resolves when all is stored. */
  async settle(): Promise<void> {
    await Promise.all(this.#keeping);
    const [made, left] = [this.#made, [...this.#read.keys()]];
    this.#made = [];
    this.#read.clear();
    this.#verified.clear();
    for (let from = 0; from < made.length; from += BATCH_ROWS) {
      const operations = made.slice(from, from + BATCH_ROWS).map(({ _id, ...fields }) => ({
        updateOne: { filter: { _id }, update: { $set: fields }, upsert: true },
      }));
      await this.#rows.bulkWrite(operations, { ordered: false });
    }
    for (let from = 0; from < left.length; from += BATCH_ROWS)
      await this.#rows.deleteMany({ _id: { $in: left.slice(from, from + BATCH_ROWS) } });
  }

  #isVerified({ module: { source } }: CompiledUnit): boolean {
    const hash = sha256(source);
    if (this.#verified.has(hash)) return true;
    if (!isVerified(source)) return false;
    if (this.#read.size > 0) this.#verified.add(hash); // only while a namespace is being opened
    return true;
  }

  #idOfProcedure(text: string, state: ServiceStateNames | null): string {
    return this.#idOf(`${text}\n${JSON.stringify(state)}`);
  }

  #idOf(text: string): string {
    return sha256(`${this.#compiler}\n${text}`);
  }
}

function rowOf(_id: string, compiled: CompiledRule | CompiledProcedure): Row {
  const unit = JSON.stringify(compiled);
  return { _id, unit, sum: sha256(`${_id}\n${unit}`) };
}

function unitOf({ _id, sum, unit }: Row): CompiledRule | CompiledProcedure | null {
  return typeof unit === 'string' && sum === sha256(`${_id}\n${unit}`) ? (JSON.parse(unit) as CompiledRule | CompiledProcedure) : null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A hash of this compiler and its built-ins, which changes with each version of either. Computed once per process. */
export async function compilerHash(): Promise<string> {
  const folder = fileURLToPath(new URL('../../compiler', import.meta.url));
  const files = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.[jt]s$/.test(name)).sort();
  const hash = createHash('sha256').update(JSON.stringify([...builtinTable()]));
  for (const file of files) hash.update(`\n${file}\n`).update(await readFile(join(folder, file)));
  return hash.digest('hex');
}
