// Files of cases don't disturb each other, nor what else lives on the server: the types, rules, procedures and topics that a file defines
// are given names of their own, in all its texts on the way out and back again in all answers.
import type { CaseFile, Given, Wanted } from './case-file.ts';

export interface Names {
  /** What tells this file's names from all others. */
  readonly tag: string;
  /** From the names of the file to those on the server. */
  toServer(text: string): string;
  fromServer(text: string): string;
  /** A column of a rewritten line, as a column of the line that the file has. */
  columnOf(text: string, line: number, column: number): number;
}

const DEFINITION = /^\s*(?:(?:private|global|stateless|multi\s+partition)\s+)*(rule|ruleset|procedure)\s+([A-Za-z_]\w*(?:\.\w+)*)/im;
/** A pattern that fits nowhere. */
const NEVER = '(?!)';

/** @param tag appended to each name; letters and digits */
export function namesOf(file: CaseFile, tag: string): Names {
  const found = new Set<string>();
  for (const given of [file.given, ...file.cases.map((one) => one.given)]) collect(given, found);
  for (const { steps } of file.cases)
    for (const { kind, body } of steps)
      if (kind === 'register') collect(definedBy(body.rule, body.procedure, body.type, body.topic), found);

  const names = [...found].sort((a, b) => b.length - a.length).map((name) => name.replace(/[^\w]/g, '\\$&'));
  if (names.length === 0) return { tag, toServer: (text) => text, fromServer: (text) => text, columnOf: (_text, _line, column) => column };
  const words = names.filter((name) => /^\w/.test(name)).join('|') || NEVER;
  const paths = names.filter((name) => !/^\w/.test(name)).join('|') || NEVER;
  const anyOf = `((?<!\\w)(?:${words})|${paths})`;
  const plain = new RegExp(`${anyOf}(?!\\w)`, 'g');
  const tagged = new RegExp(`${anyOf}_${tag}(?!\\w)`, 'g');
  return {
    tag,
    toServer: (text) => text.replace(plain, `$1_${tag}`),
    fromServer: (text) => text.replace(tagged, '$1'),
    columnOf: (text, line, column) => {
      let left = column;
      for (const match of (text.split('\n')[line - 1] ?? '').matchAll(plain)) {
        if (match.index + match[0].length >= left) break;
        left -= tag.length + 1;
      }
      return left;
    },
  };
}

/** A topic's name is its path; a procedure of a service is known by its service, a method-style one by its own name. */
function collect(given: Given, found: Set<string>): void {
  for (const name of Object.keys(given.types ?? {})) found.add(name);
  for (const topic of given.topics ?? []) {
    const name = String(typeof topic === 'object' && topic !== null && 'name' in topic ? topic.name : topic);
    found.add(name).add(encodeURIComponent(name));
  }
  for (const text of [...(given.procedures ?? []), ...(given.rules ?? [])]) {
    const name = definedName(text);
    if (name) found.add(name.split('.')[0]!);
  }
}

function definedBy(rule?: Wanted, procedure?: Wanted, type?: Wanted, topic?: Wanted): Given {
  const texts = (value?: Wanted) => (typeof value === 'string' ? [value] : []);
  const typeName = type !== null && typeof type === 'object' && 'name' in type ? String(type.name) : undefined;
  return {
    rules: texts(rule),
    procedures: texts(procedure),
    types: typeName ? { [typeName]: {} } : {},
    topics: topic === undefined ? [] : [topic],
  };
}

/** The name in the text of a rule (without its version) or procedure; undefined when the text is too broken to tell. */
export function definedName(text: string): string | undefined {
  return DEFINITION.exec(text.replace(/\/\*[^]*?\*\/|\/\/.*/g, ' '))?.[2];
}
