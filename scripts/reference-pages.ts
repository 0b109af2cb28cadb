// The reference pages as text, from the catalogues of codes and the declarations of built-ins. Pure: docs.ts writes, docs.test.ts compares.
import { type Code, CODES, Diagnostics } from '../compiler/diagnostics.ts';
import { apiErrorRows } from '../model/errors/api-errors.ts';
import { aggregates } from '../stdlib/builtins/aggregates.ts';
import { arrays } from '../stdlib/builtins/arrays.ts';
import { codecs } from '../stdlib/builtins/codecs.ts';
import { collaboration } from '../stdlib/builtins/collaboration.ts';
import { dates } from '../stdlib/builtins/dates.ts';
import type { Declaration } from '../stdlib/builtins/declaration.ts';
import { events } from '../stdlib/builtins/events.ts';
import { exceptions } from '../stdlib/builtins/exceptions.ts';
import { format } from '../stdlib/builtins/format.ts';
import { general } from '../stdlib/builtins/general.ts';
import { geo } from '../stdlib/builtins/geo.ts';
import { identity } from '../stdlib/builtins/identity.ts';
import { allBuiltins } from '../stdlib/builtins/index.ts';
import { installation } from '../stdlib/builtins/installation.ts';
import { intervals } from '../stdlib/builtins/intervals.ts';
import { logging } from '../stdlib/builtins/logging.ts';
import { math } from '../stdlib/builtins/math.ts';
import { notifications } from '../stdlib/builtins/notifications.ts';
import { numbers } from '../stdlib/builtins/numbers.ts';
import { objects } from '../stdlib/builtins/objects.ts';
import { patterns } from '../stdlib/builtins/patterns.ts';
import { recommend } from '../stdlib/builtins/recommend.ts';
import { references } from '../stdlib/builtins/references.ts';
import { resourceApi } from '../stdlib/builtins/resource-api.ts';
import { sharedObjects } from '../stdlib/builtins/shared-objects.ts';
import { strings } from '../stdlib/builtins/strings.ts';
import { templates } from '../stdlib/builtins/templates.ts';
import { tokens } from '../stdlib/builtins/tokens.ts';
import { namedTypes } from '../stdlib/builtins/types.ts';
import { xml } from '../stdlib/builtins/xml.ts';
import { CATALOGUE as PROGRAM_CATALOGUE } from '../stdlib/errors.ts';

/** An expression and its value, both as text. */
export interface Example {
  readonly expression: string;
  readonly result: string;
}

/** Name and text of each page. @param examples of built-ins, in any order: each built-in shows the first that is its own */
export const referencePages = (examples: readonly Example[]): ReadonlyMap<string, string> =>
  new Map([
    ['errors.md', errorsPage()],
    ['builtins.md', builtinsPage(examples)],
  ]);

const NOTE = '<!-- Made by `npm run docs` from the code: change it there. -->';

// ---------------------------------------------------------------- errors

/** What each diagnostic of the compiler tells of; its own words name the place and what was found there. */
const DIAGNOSTICS: Readonly<Record<Code, string>> = {
  'cascade.lang.syntax': 'The text does not follow the grammar, or uses a construct in a way that has no code of its own.',
  'cascade.lang.source.size': 'The text is too long.',
  'cascade.lang.literal.range': 'A literal is outside the range of its type.',
  'cascade.lang.name.reserved': 'A reserved word stands where a name is wanted.',
  'cascade.lang.call.mixed.arguments': 'A call names some of its arguments and not others.',
  'cascade.lang.insert.values.form': 'INSERT is written with a VALUES list.',
  'cascade.lang.where.required': 'A statement that changes many instances has no WHERE.',
  'cascade.lang.variable.undeclared': 'A name that is no variable here.',
  'cascade.lang.variable.redeclared': 'A variable of that name is there already.',
  'cascade.lang.reference.position': '`@name` stands where no name of a resource is wanted.',
  'cascade.lang.parameter.mixed': 'Some parameters have types and others have none.',
  'cascade.lang.parameter.required.default': 'A REQUIRED parameter has a DEFAULT.',
  'cascade.lang.option.unknown': 'An option that a procedure does not have.',
  'cascade.lang.package.name': 'A package name that is reserved or has one part only.',
  'cascade.lang.import': 'IMPORT without PACKAGE, twice under one name, or under the name of the definition.',
  'cascade.lang.select.alias': 'SELECT of `@variable` as a statement has no name for its result.',
  'cascade.lang.select.source': 'SELECT from a source uses a clause that only types have.',
  'cascade.lang.execute.async': 'EXECUTE ASYNC stands where a value is wanted.',
  'cascade.lang.return.position': 'RETURN stands where statements follow it.',
  'cascade.rule.before.system': 'A BEFORE rule on a resource of the service, such as system.documents, whose changes no rules run before.',
  'cascade.rule.loop': 'The rule may set itself going again, by itself or by way of other rules; the message shows the round.',
  'cascade.lang.processedby.deprecated': 'A statement on other nodes whose value is an array.',
  'cascade.rule.version.invalid': 'The version behind the name of a rule is none.',
  'cascade.rule.version.conflict': 'Two versions of a rule differ in more than their WHERE.',
  'cascade.rule.alias.required': 'Two events of a trigger have the same name.',
  'cascade.rule.merge.alias': 'Events joined by OR have different names.',
  'cascade.rule.interval': 'An interval of time is not a constant above 0, or longer than a million days.',
  'cascade.rule.timeout': 'TIMEOUT on a trigger that waits for nothing.',
  'cascade.rule.activation': 'The activation constraint is no JSON object, or no condition on nodes.',
  'cascade.service.state.modifier': 'PRIVATE before a procedure that belongs to no service.',
  'cascade.service.partition.parameter': 'A partitioned procedure lacks its key parameter.',
  'cascade.federation.statement.unsupported': 'The construct cannot be run by this version.',
  'cascade.event.path.invalid': 'A text that is no event path.',
  'cascade.resource.name.reserved': 'A name that belongs to the system.',
  'cascade.check.variable.unused': 'A variable is given a value, or none, and never read.',
  'cascade.check.assignment.unread': 'The value of an assignment is never read: it is replaced before, or the body ends.',
  'cascade.check.condition.constant': 'A condition has the same outcome in every run.',
  'cascade.check.statement.unreachable': 'What stands before the statement never ends normally.',
  'cascade.check.class.cast': 'A comparison that can only fail.',
  'cascade.check.operand': 'An operation that is not there for values of these types.',
  'cascade.check.property.unknown': 'A property that the type does not have.',
  'cascade.check.property.required': 'An instance is stored without a property that its type requires.',
  'cascade.check.property.type': 'A value that the property cannot hold.',
  'cascade.check.argument.count': 'More arguments than the procedure takes.',
  'cascade.check.argument.missing': 'An argument that the procedure requires is not there.',
  'cascade.check.argument.type': 'An argument that the parameter does not take.',
  'cascade.check.argument.unknown': 'A named argument that the procedure does not have.',
  'cascade.check.procedure.unknown': 'No procedure has that name.',
  'cascade.check.type.unknown': 'No type has that name.',
};

function errorsPage(): string {
  const faults = apiErrorRows();
  const isFault = new Set<string>(faults.map(([code]) => code));
  const programs = Object.entries(PROGRAM_CATALOGUE).filter(([code]) => !isFault.has(code));
  const of = (prefixes: readonly string[]) => faults.filter(([code]) => prefixes.some((prefix) => code.startsWith(prefix)));
  const parts = new Set(PARTS.flatMap(([, prefixes]) => of(prefixes)));
  return page([
    '# Error codes',
    NOTE,
    'A code never changes its meaning and is never used again. `{0}`, `{1}` … in a message are filled from `params`, in that order. ' +
      'The status is the HTTP status where the error leaves the service ([api.md](api.md) tells how). ' +
      'Some codes belong to parts that this version does not have; they are reserved, so that programs can be written against them.',
    '## The compiler',
    'These refuse a rule or procedure when it is written, with status 400; `params` are line, column and detail. ' +
      'A warning does not refuse: it stands in `compileWarnings`. `cascade check` shows the same, and codes with `check` in front, which it alone has.',
    table(['Code', 'Severity', 'Tells', 'Help'], CODES.map(diagnosticRow)),
    '## Programs',
    'What a running rule or procedure raises; a `catch` block sees the same code.',
    table(
      ['Code', 'Status', 'Message'],
      programs.map(([code, { status, template }]) => [`\`${code}\``, String(status), cell(template)]),
    ),
    ...PARTS.flatMap(([title, prefixes]) => [`## ${title}`, faultTable(of(prefixes))]),
    '## Others',
    faultTable(faults.filter((row) => !parts.has(row))),
  ]);
}

/** Headings of the service's own codes and what the codes under them begin with. No code under two of them: a test holds that. */
const PARTS: readonly (readonly [title: string, prefixes: readonly string[]])[] = [
  ['Requests', ['cascade.api.', 'cascade.method.', 'cascade.operation.', 'cascade.request.']],
  ['Resources and changes', ['cascade.resource.', 'cascade.upsert.', 'cascade.update.', 'cascade.delete.', 'cascade.patch.']],
  ['Conditions and queries', ['cascade.query.']],
  ['Definitions of types and scalars', ['cascade.type.', 'cascade.scalar.']],
  [
    'Logging in and rights',
    [
      'io.service.security.',
      'cascade.security.',
      'cascade.authorization.',
      'cascade.namespace.',
      'cascade.profile.',
      'cascade.user.',
      'cascade.group.',
      'cascade.token.',
    ],
  ],
  ['Backups', ['cascade.backup.']],
  ['Limits of a run', ['cascade.execution.', 'cascade.quota.']],
  ['The server', ['cascade.server.']],
  [
    'Sources',
    ['cascade.source.', 'cascade.remote.', 'cascade.mqtt.', 'cascade.amqp.', 'cascade.email.', 'cascade.chatbot.', 'cascade.webhook.'],
  ],
  ['Topics, notifications, schedules', ['cascade.topic.', 'cascade.notification.', 'cascade.scheduledevent.']],
  ['Nodes', ['io.service.federation.', 'cascade.node.', 'cascade.federation.']],
];

/** Severity and help as the compiler's own list keeps them. */
function diagnosticRow(code: Code): string[] {
  const found = new Diagnostics();
  (found.report as (at: { start: number; end: number }, code: Code, ...params: string[]) => void).call(
    found,
    { start: 0, end: 0 },
    code,
    'name',
  );
  const [first] = found.list;
  return [`\`${code}\``, first?.severity ?? '', DIAGNOSTICS[code], cell(first?.hint ?? '')];
}

function faultTable(rows: ReturnType<typeof apiErrorRows>): string {
  return table(
    ['Code', 'Status', 'Message', 'Params'],
    rows.map(([code, { status, template, params }]) => [`\`${code}\``, String(status), cell(template), params.join(', ')]),
  );
}

// ---------------------------------------------------------------- built-ins

/** In the order of the page; each built-in is in one of them. */
const AREAS: readonly (readonly [title: string, declarations: readonly Declaration[]])[] = [
  ['Strings', strings],
  ['Patterns', patterns],
  ['Formats', format],
  ['Numbers', numbers],
  ['Math', math],
  ['Dates and times', dates],
  ['Intervals', intervals],
  ['Lists', arrays],
  ['Objects', objects],
  ['Aggregates', aggregates],
  ['Geography', geo],
  ['Encoding and digests', codecs],
  ['XML', xml],
  ['References', references],
  ['Templates', templates],
  ['Tokens', tokens],
  ['The caller and the service', identity],
  ['Resources', resourceApi],
  ['Events', events],
  ['Recommenders', recommend],
  ['Maps, Values and Locks that procedures share', sharedObjects],
  ['Messages to devices', notifications],
  ['Chats, tracks, collaborations', collaboration],
  ['The installation', installation],
  ['Errors', exceptions],
  ['Log', logging],
  ['General', general],
];

const FORMS: Readonly<Record<string, string>> = { F: 'f(x)', M: 'x.f()', FM: 'f(x), x.f()', S: 'with its service' };

function builtinsPage(examples: readonly Example[]): string {
  const placed = new Set(AREAS.flatMap(([, declarations]) => declarations.map(({ call }) => call.slice(0, call.indexOf('(')))));
  const others = [...allBuiltins()].flatMap(({ overloads }) => overloads).filter(({ name }) => !placed.has(name));
  const [homeless] = others;
  if (homeless) throw new Error(`${homeless.name} stands in no area: give it one in AREAS of scripts/reference-pages.ts`);
  const heads = ['Declaration', 'Called', 'Does', 'Errors'];
  const rowsOf = (declarations: readonly Row[]): string[][] => declarations.map((declaration) => declarationRow(declaration, examples));
  return page([
    '# Built-in procedures',
    NOTE,
    'Each line is a declaration: name, parameters with their types, result. `?` marks a parameter that may be left out, `=` gives what it is then, ' +
      '`…` takes any number of arguments (`…p0` by name p0, p1 and so on), `|` separates types, `any|null` takes everything. A DateTime may be given as ISO text or milliseconds, ' +
      'a Real as an Integer. The column *Called* tells the forms: as a function, as a method of the first parameter, or with the name before the dot. ' +
      'Arguments may be named, all or none: `slice(str: "abcd", start: 1)`. ' +
      'The prefix `system.` before any name changes nothing; `ResourceConfig` and `Test` may have `io.service.` in front, too.',
    '*Errors* are codes without `cascade.` in front ([errors.md](errors.md) has their messages and params). Not listed are those that any call may ' +
      'raise: `procedure.argument.count`, `procedure.argument.unknown`, `procedure.parameter.missing` and `procedure.parameter.type` for arguments that are ' +
      'not those of the declaration, `lang.null` for null where the types have none, `builtin.method.unknown` for a receiver of another type, ' +
      '`lang.sequence.operation` and `lang.sequence.conversion` for a Sequence where none is taken, and the limits of a run (`execution.…`, `lang.string.size`). ' +
      '`*` stands for what the operation or procedure raises that is carried out.',
    ...AREAS.flatMap(([title, declarations]) => [`## ${title}`, table(heads, rowsOf(declarations))]),
  ]);
}

type Row = Pick<Declaration, 'call' | 'forms' | 'about' | 'errors'>;

function declarationRow({ call, forms, about, errors = [] }: Row, examples: readonly Example[]): string[] {
  const example = exampleOf(call, examples);
  const spelled = call.replaceAll(/(?<=: )Key\b/g, namedTypes('Key').join('|'));
  return [
    `\`${spelled.replaceAll('|', '\\|')}\``,
    FORMS[forms] ?? forms,
    cell(about) + (example ? `<br>\`${`${example.expression} → ${example.result}`.replaceAll('|', '\\|')}\`` : ''),
    errors.map((code) => (code === '*' ? '\\*' : `\`${code.replace(/^cascade\./, '')}\``)).join(', '),
  ];
}

/** What a first argument of a type begins with, and what a receiver ends in; null where no expression shows one. */
const SHAPES: Readonly<Record<string, readonly [first: string, receiver: string] | null>> = {
  String: ['"', '"'],
  List: ['\\[', '\\]'],
  Object: ['\\{', '\\}\\)'],
  Matcher: ['regExp', 'matcher\\([^()]*\\)'],
  Binary: ['(?:Hash|Decode)\\.', '(?:Hash\\.\\w+|base64Raw)\\([^()]*\\)'],
  Map: null,
  Cache: null,
  Xml: null,
};

/** The first call of the name with a first argument of the type that the declaration wants. */
function exampleOf(call: string, examples: readonly Example[]): Example | undefined {
  const [, name = '', type = ''] = /^([\w.]+)\((?:…?\w+\??: (\w+)(?![\w|]))?/.exec(call) ?? [];
  const shape = SHAPES[type];
  if (shape === null) return undefined;
  const [first, receiver] = shape ?? ['', ''];
  const escaped = name.replaceAll('.', '\\.');
  const calls = new RegExp(`(?<![\\w.])${escaped}\\(${first}|${receiver}\\.${escaped}\\(`);
  return examples.find(({ expression }) => calls.test(expression));
}

// ---------------------------------------------------------------- Markdown

const page = (blocks: readonly string[]): string => `${blocks.join('\n\n')}\n`;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** A sentence in a table: no sign of it may end the cell or begin markup. */
const cell = (text: string): string => text.replace(/[|*_<>]/g, (sign) => `\\${sign}`);
