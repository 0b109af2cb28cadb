// For tests: the programs that the project holds: of the conformance cases, the examples and the documents.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

export interface KnownProgram {
  /** Where it stands: a file and a number. */
  readonly from: string;
  readonly text: string;
  /** Types of the file that it stands in, as resources. */
  readonly types: readonly TypeResource[];
  /** Texts of the file that may define procedures. */
  readonly beside: readonly string[];
  /** The case wants an error of it, when it runs or before. */
  readonly fails: boolean;
}
export interface TypeResource {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const files = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const HEADER = /^(?:\s|\/\/[^\n]*\n|\/\*[^]*?\*\/)*(?:package\b|private\b|global\b|stateless\b|multi\b|procedure\b|rule\b|ruleset\b)/i;

/** Of the conformance cases: whole texts, and bodies as procedures. */
export function casePrograms(): KnownProgram[] {
  return files('conformance/cases', /\.yaml$/).flatMap((file) => {
    const content: unknown = parseYaml(read(file), { logLevel: 'silent' });
    const found: Omit<KnownProgram, 'from' | 'types' | 'beside'>[] = [];
    const types: TypeResource[] = [];
    collect(content, found, types, false);
    const beside = found.map(({ text }) => text);
    return found.map((one, index) => ({ ...one, from: `${file} ${index + 1}`, types, beside }));
  });
}

function collect(node: unknown, found: Omit<KnownProgram, 'from' | 'types' | 'beside'>[], types: TypeResource[], fails: boolean): void {
  if (typeof node === 'string') {
    if (HEADER.test(node)) found.push({ text: node, fails });
  } else if (Array.isArray(node)) for (const item of node) collect(item, found, types, fails);
  else if (typeof node === 'object' && node !== null) {
    const record = node as Record<string, unknown>;
    const failing = fails || Object.keys(record).some((key) => key === 'error' || key === 'errors' || key === 'status');
    for (const [key, value] of Object.entries(record)) {
      if (key === 'bodies' && Array.isArray(value)) for (const pair of value) body(pair, found);
      else if (key === 'types' && typeof value === 'object' && value !== null && !Array.isArray(value)) typesOf(value, types);
      else collect(value, found, types, failing);
    }
  }
}

/** `[body, expected]` */
function body(pair: unknown, found: Omit<KnownProgram, 'from' | 'types' | 'beside'>[]): void {
  if (!Array.isArray(pair) || typeof pair[0] !== 'string') return;
  const expected: unknown = pair[1];
  found.push({ text: `PROCEDURE body()\n${pair[0]}`, fails: typeof expected === 'object' && expected !== null && 'error' in expected });
}

function typesOf(given: object, types: TypeResource[]): void {
  for (const [name, definition] of Object.entries(given)) {
    if (typeof definition !== 'object' || definition === null) continue;
    const full = 'properties' in definition ? (definition as { properties: object }).properties : definition;
    const properties = Object.fromEntries(
      Object.entries(full as Record<string, unknown>).map(([property, type]) => [property, typeof type === 'string' ? { type } : type]),
    );
    types.push({ name, properties });
  }
}

/** Of the examples: each with the types and texts of its folder. */
export function examplePrograms(): KnownProgram[] {
  const texts = files('examples', /\.(rule|procedure)$/);
  const all = texts.map(read);
  const types = files('examples', /definitions\/types\/[^/]*\.json$/).map((file) => JSON.parse(read(file)) as TypeResource);
  return texts.map((file) => ({ from: file, text: read(file), types, beside: all, fails: false }));
}

/** Of the documents: whole texts in fenced blocks. */
export function documentPrograms(): KnownProgram[] {
  return [...files('docs', /\.md$/), 'README.md'].flatMap((file) => {
    const blocks = [...read(file).matchAll(/```[a-z]*\n([^]*?)```/g)].map((block) => block[1] ?? '').filter((text) => HEADER.test(text));
    return blocks.map((text, index) => ({ from: `${file} block ${index + 1}`, text, types: [], beside: blocks, fails: false }));
  });
}
