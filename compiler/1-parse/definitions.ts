// The whole of a text: package, imports, and the rule or procedure (language.md 2.1).
import type {
  Definition,
  Identifier,
  Import,
  ImportKind,
  ObjectLiteral,
  Package,
  ProcedureDefinition,
  RuleDefinition,
  Statement,
  StringLiteral,
} from '../ast.ts';
import { where } from './conditions.ts';
import { ABORT, type Cursor, PANIC } from './cursor.ts';
import { description } from './description.ts';
import { object } from './literals.ts';
import { identifier, qualifiedName } from './names.ts';
import { options } from './options.ts';
import { parameters, returnType } from './parameters.ts';
import { recoverHeader, statementList } from './statements.ts';
import { STRING, VERSION } from './tokens.ts';
import { beforeClause, whenClause } from './triggers.ts';

interface Head {
  readonly start: number;
  readonly package: Package | null;
  readonly imports: readonly Import[];
  readonly description: string;
}

/** Null when the header cannot be read; the body is looked through for mistakes all the same. */
export function definition(p: Cursor): Definition | null {
  let found: Definition | null = null;
  try {
    found = withHead(p);
  } catch (error) {
    if (error === ABORT) return null;
    if (error !== PANIC) throw error;
    body(p, 'end', recoverHeader);
  }
  return found;
}

function withHead(p: Cursor): Definition {
  const start = p.start();
  const head: Head = { start, package: packageLine(p), imports: imports(p), description: description(p.tokens) };
  if (p.at('rule') || p.at('ruleset')) return rule(p, head);
  return procedure(p, head);
}

function packageLine(p: Cursor): Package | null {
  if (!p.at('package')) return null;
  const start = p.start();
  p.take();
  return p.node(start, { type: 'Package', name: qualifiedName(p, 'the name of the package') });
}

const IMPORT_KINDS: readonly ImportKind[] = ['service', 'procedure', 'type', 'topic', 'source', 'eventstream'];

function imports(p: Cursor): Import[] {
  const list: Import[] = [];
  while (p.at('import')) list.push(importLine(p));
  return list;
}

function importLine(p: Cursor): Import {
  const start = p.start();
  p.take();
  const kind = IMPORT_KINDS.find((word) => p.at(word));
  if (!kind) p.missing('SERVICE, PROCEDURE, TYPE, TOPIC, SOURCE or EVENTSTREAM', 'for example IMPORT SERVICE com.acme.Billing');
  p.take();
  const target = p.kind() === STRING ? text(p) : qualifiedName(p, 'what to import');
  const alias = p.accept('as') ? identifier(p, 'a name after AS') : null;
  return p.node(start, { type: 'Import', kind, target, alias });
}

function text(p: Cursor): StringLiteral {
  const start = p.start();
  const value = p.text();
  p.take();
  return p.node(start, { type: 'String', value });
}

/** L7. */
function notOfTheSystem(p: Cursor, names: readonly Identifier[]): void {
  for (const name of names) if (name.name.startsWith('ars_')) p.found.report(name, 'cascade.resource.name.reserved', name.name);
}

// ---------------------------------------------------------------- rules
function rule(p: Cursor, head: Head): RuleDefinition {
  p.take();
  const name = ruleName(p);
  const version = versionOf(p);
  const filter = where(p);
  const activationConstraint = activation(p);
  const trigger = p.at('when') ? whenClause(p) : p.at('before') ? beforeClause(p) : p.missing("'WHEN' or 'BEFORE'");
  const statements = body(p, 'timeout');
  const timeout = p.at('timeout') ? timeoutSection(p) : null;
  if (timeout && trigger.type === 'Before')
    p.found.report(timeout.at, 'cascade.rule.timeout', 'a BEFORE rule waits for nothing, so it has no TIMEOUT');
  return p.node(head.start, {
    type: 'Rule',
    package: head.package,
    imports: head.imports,
    description: head.description,
    name,
    version,
    where: filter,
    activationConstraint,
    trigger,
    body: statements,
    timeout: timeout && trigger.type !== 'Before' ? timeout.body : null,
  });
}

/** One name; `system.` before it would be a rule of the service's own, and there is none. */
function ruleName(p: Cursor): Identifier {
  if (p.at('system') && p.at('.', 1)) {
    const { start, end, text: name } = qualifiedName(p, 'the name of the rule');
    p.found.report({ start, end }, 'cascade.resource.name.reserved', name);
    return { type: 'Identifier', name, start, end };
  }
  const goesOn = [':', 'where', 'activationconstraint', 'when', 'before'].some((text) => p.at(text, 1));
  if ((p.at('when') || p.at('before')) && !goesOn) p.missing('the name of the rule');
  const name = identifier(p, 'the name of the rule');
  notOfTheSystem(p, [name]);
  return name;
}

function versionOf(p: Cursor): RuleDefinition['version'] {
  if (!p.at(':')) return null;
  p.take();
  const at = p.pos;
  if (p.kind() === VERSION && p.tokens.starts[at + 1] !== p.tokens.ends[at]) {
    const version = { text: p.text(), span: p.here() };
    p.take();
    return version;
  }
  // a blank, or a character that no version has: what hangs together here is taken for the version that was meant
  let end = p.isFresh() ? at : at + 1;
  while (end > at && end < p.tokens.count - 1 && p.tokens.starts[end] === p.tokens.ends[end - 1]) end += 1;
  const span = { start: p.tokens.starts[at]!, end: p.tokens.ends[Math.max(at, end - 1)]! };
  p.found.report(span, 'cascade.rule.version.invalid', p.tokens.source.slice(span.start, span.end).slice(0, 40));
  while (p.pos < end) p.take();
  return null;
}

function activation(p: Cursor): StringLiteral | ObjectLiteral | null {
  if (!p.accept('activationconstraint')) return null;
  if (p.at('{')) return object(p);
  if (p.kind() !== STRING) p.missing('a String or an object', 'the constraint is a where-object over the properties of the node');
  return text(p);
}

function timeoutSection(p: Cursor): { at: { start: number; end: number }; body: Statement[] } {
  const at = p.here();
  p.take();
  return { at, body: body(p, 'end') };
}

// ---------------------------------------------------------------- procedures
function procedure(p: Cursor, head: Head): ProcedureDefinition {
  const modifiers = { private: false, access: null as ProcedureDefinition['access'] };
  while (modifier(p, modifiers));
  if (!p.accept('procedure')) p.missing("'RULE' or 'PROCEDURE'", 'a text is one rule or one procedure');
  const name = qualifiedName(p, 'the name of the procedure');
  notOfTheSystem(p, name.parts);
  const given = parameters(p);
  const returns = p.accept(':') || foreignReturns(p, given) ? returnType(p) : null;
  const hidden = p.at('hidden') && !p.isPlainName();
  if (hidden) p.take();
  const chosen = options(p);
  const statements = body(p, 'end');
  return p.node(head.start, {
    type: 'Procedure',
    package: head.package,
    imports: head.imports,
    description: head.description,
    name,
    private: modifiers.private,
    access: modifiers.access,
    hidden,
    parameters: given,
    returns,
    options: chosen,
    body: statements,
  });
}

/** `RETURNS Type`: read as what is meant. A parameter of that name is one. */
function foreignReturns(p: Cursor, parameters: ProcedureDefinition['parameters']): boolean {
  const isMeant = p.at('returns') && p.isWord(1) && !p.isFresh(1) && parameters.every(({ name }) => name.name !== p.written());
  if (!isMeant) return false;
  p.soft(p.here(), `'${p.written()}' is not in the language`, "the type of the result follows ':', as in PROCEDURE f(): Integer");
  p.take();
  return true;
}

function modifier(p: Cursor, found: { private: boolean; access: ProcedureDefinition['access'] }): boolean {
  const word = p.text();
  const access = p.at('global') ? 'global' : p.at('stateless') ? 'stateless' : p.at('multi') ? 'multiPartition' : null;
  if (!p.at('private') && !access) return false;
  if (access ? found.access : found.private) p.soft(p.here(), `${word.toUpperCase()} is one modifier of its kind too many`);
  p.take();
  if (access === 'multiPartition') p.expect('partition', 'the modifier is MULTI PARTITION');
  if (access) found.access = access;
  else found.private = true;
  return true;
}

// ---------------------------------------------------------------- bodies
/** The statements to the end of the text, or where a section may follow to TIMEOUT; when reading stops for good, what was read so far. */
function body(p: Cursor, last: 'end' | 'timeout', first?: (p: Cursor) => void): Statement[] {
  const statements: Statement[] = [];
  const isOver = (at: Cursor): boolean => last === 'timeout' && at.at('timeout') && !at.isPlainName();
  try {
    first?.(p);
    while (!p.isEnd() && !isOver(p)) {
      statementList(p, (at) => at.at('}') || isOver(at), statements);
      if (!p.at('}')) continue;
      p.soft(p.here(), "this '}' closes nothing");
      p.take();
    }
  } catch (error) {
    if (error !== ABORT) throw error;
    p.pos = p.tokens.count - 1;
  }
  return statements;
}
