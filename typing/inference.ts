// TypeScript asked what each expression of a projection may be. Its complaints are not of interest, and none reaches a user.
import ts from 'typescript';
import type { Kind, Known } from './kinds.ts';
import type { Projection } from './projection.ts';

const OPTIONS: ts.CompilerOptions = {
  noLib: true,
  target: ts.ScriptTarget.ES2022,
  strict: false,
  noImplicitAny: true, // without it a variable without a type is any, and its assignments are not followed
  strictNullChecks: false,
  types: [],
  noEmit: true,
};

export type KnownOf = (node: object) => Known;

/** Texts of one namespace, whose declarations are read once. */
export class Inference {
  readonly #declarations: ts.SourceFile;
  #program: ts.Program | undefined;
  constructor(declarations: string) {
    this.#declarations = sourceFile('namespace.ts', declarations);
  }

  /** @returns what is known of the expressions of the tree; null for what nothing is known of */
  infer({ text, places }: Projection): KnownOf {
    const file = sourceFile('text.ts', text);
    const files = new Map([this.#declarations, file].map((one) => [one.fileName, one]));
    this.#program = ts.createProgram([...files.keys()], OPTIONS, hostOf(files), this.#program);
    const checker = this.#program.getTypeChecker();
    const nodes = nodesByPlace(file, places);
    const known = new Map<object, Known>();
    return (node) => {
      if (known.has(node)) return known.get(node) ?? null;
      const found = nodes.get(node);
      const kinds = found ? toKnown(checker.getTypeAtLocation(found), checker) : null;
      known.set(node, kinds);
      return kinds;
    };
  }
}

const sourceFile = (name: string, text: string): ts.SourceFile => ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);

const hostOf = (files: ReadonlyMap<string, ts.SourceFile>): ts.CompilerHost => ({
  getSourceFile: (name) => files.get(name),
  getDefaultLibFileName: () => 'lib.d.ts',
  writeFile: () => undefined,
  getCurrentDirectory: () => '/',
  getCanonicalFileName: (name) => name,
  useCaseSensitiveFileNames: () => true,
  getNewLine: () => '\n',
  fileExists: (name) => files.has(name),
  readFile: (name) => files.get(name)?.text,
});

function nodesByPlace(file: ts.SourceFile, places: Projection['places']): Map<object, ts.Node> {
  const owners = new Map<string, object[]>();
  for (const [owner, [start, end]] of places) {
    const key = `${start}:${end}`;
    const before = owners.get(key);
    if (before) before.push(owner);
    else owners.set(key, [owner]);
  }
  const found = new Map<object, ts.Node>();
  const visit = (node: ts.Node): void => {
    if (!ts.isStatement(node))
      for (const owner of owners.get(`${node.getStart(file)}:${node.end}`) ?? []) if (!found.has(owner)) found.set(owner, node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function toKnown(type: ts.Type, checker: ts.TypeChecker): Known {
  if (type.isUnion()) {
    const kinds = type.types.map((one) => toKnown(one, checker));
    return kinds.includes(null) ? null : kinds.flatMap((one) => one ?? []);
  }
  const kind = toKind(type, checker);
  return kind && [kind];
}

function toKind(type: ts.Type, checker: ts.TypeChecker): Kind | null {
  if (type.isIntersection()) {
    const kinds = type.types.map((one) => toKind(one, checker));
    return kinds.find((one) => one?.type !== undefined) ?? null;
  }
  const name = literal(type, '$kind', checker);
  if (name === null) return null;
  if (name === 'Object') {
    const instance = literal(type, '$type', checker);
    return instance === null ? null : { name, type: instance };
  }
  const value = name === 'Event' ? memberType(type, 'value', checker) : null;
  return { name, ...(value && { value: toKnown(value, checker) }) };
}

function memberType(type: ts.Type, name: string, checker: ts.TypeChecker): ts.Type | null {
  const member = (type.flags & ts.TypeFlags.Object) === 0 ? undefined : checker.getPropertyOfType(type, name);
  return member ? checker.getTypeOfSymbol(member) : null;
}
function literal(type: ts.Type, name: string, checker: ts.TypeChecker): string | null {
  const found = memberType(type, name, checker);
  return found?.isStringLiteral() ? found.value : null;
}
