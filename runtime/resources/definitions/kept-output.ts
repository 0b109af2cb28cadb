// What rules compile to, kept in the store so that a start need not compile them again. A row is found by the hash of the compiler and the
// rule's text, and holds a hash of itself: output of another compiler, of another text or cut short is not used, the text is compiled.
// Rows are verified code (the compiler verifies what it gives) and nothing else may write them: no resource of the API, no type and no
// pipeline stage names this collection.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collection, Db } from 'mongodb';
import type { CompiledRule } from '../../../compiler/index.ts';
import { builtinTable } from '../../../stdlib/builtins/index.ts';
import { compileText } from './programs.ts';

export const KEPT_OUTPUT = 'compiled';
const BATCH_ROWS = 1_000;

interface Row {
  readonly _id: string;
  readonly sum: string;
  /** A CompiledRule as JSON. */
  readonly unit: string;
}

export class KeptOutput {
  readonly #rows: Collection<Row>;
  readonly #compiler: string;
  /** Read at the start and not asked for yet. */
  readonly #read = new Map<string, Row>();
  /** Compiled since, and not stored yet. */
  #made: Row[] = [];
  #taken = 0;

  private constructor(db: Db, compiler: string) {
    this.#rows = db.collection<Row>(KEPT_OUTPUT);
    this.#compiler = compiler;
  }

  /** Reads all that a namespace has kept. @param compiler what compilerHash() gives */
  static async open(db: Db, compiler: string): Promise<KeptOutput> {
    const kept = new KeptOutput(db, compiler);
    for await (const row of kept.#rows.find({}, { batchSize: BATCH_ROWS })) kept.#read.set(row._id, row);
    return kept;
  }

  /** How many units were taken from the store and not compiled. */
  get taken(): number {
    return this.#taken;
  }

  /** What a stored rule's text compiles to. @throws CascadeErrors when it no longer compiles */
  load(text: string): CompiledRule {
    const id = this.#idOf(text);
    const row = this.#read.get(id);
    this.#read.delete(id);
    const unit = row && unitOf(row);
    if (unit) {
      this.#taken += 1;
      return unit;
    }
    const rule = compileText(text, 'rule', true) as CompiledRule;
    this.#made.push(rowOf(id, rule));
    return rule;
  }

  /** Keeps what a text compiles to, before its rule is stored. */
  async keep(text: string, rule: CompiledRule): Promise<void> {
    const { _id, ...fields } = rowOf(this.#idOf(text), rule);
    await this.#rows.updateOne({ _id }, { $set: fields }, { upsert: true });
  }

  /** Once all rules are loaded: stores what was compiled meanwhile, and removes what no rule asked for. */
  async settle(): Promise<void> {
    const [made, left] = [this.#made, [...this.#read.keys()]];
    this.#made = [];
    this.#read.clear();
    for (let from = 0; from < made.length; from += BATCH_ROWS) {
      const operations = made.slice(from, from + BATCH_ROWS).map(({ _id, ...fields }) => ({
        updateOne: { filter: { _id }, update: { $set: fields }, upsert: true },
      }));
      await this.#rows.bulkWrite(operations, { ordered: false });
    }
    for (let from = 0; from < left.length; from += BATCH_ROWS)
      await this.#rows.deleteMany({ _id: { $in: left.slice(from, from + BATCH_ROWS) } });
  }

  #idOf(text: string): string {
    return sha256(`${this.#compiler}\n${text}`);
  }
}

function rowOf(_id: string, rule: CompiledRule): Row {
  const unit = JSON.stringify(rule);
  return { _id, unit, sum: sha256(`${_id}\n${unit}`) };
}

function unitOf({ _id, sum, unit }: Row): CompiledRule | null {
  return typeof unit === 'string' && sum === sha256(`${_id}\n${unit}`) ? (JSON.parse(unit) as CompiledRule) : null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Stands for this compiler and the built-ins that it knows: another version of either has another. Read once a process. */
export async function compilerHash(): Promise<string> {
  const folder = join(import.meta.dirname, '../../../compiler');
  const files = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.[jt]s$/.test(name)).sort();
  const hash = createHash('sha256').update(JSON.stringify([...builtinTable()]));
  for (const file of files) hash.update(`\n${file}\n`).update(await readFile(join(folder, file)));
  return hash.digest('hex');
}
