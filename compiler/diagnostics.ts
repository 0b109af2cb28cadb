// Every message of the compiler, and the list in which the phases leave what they find (resources-and-api.md 10.2). A code is for ever:
// never renamed, never used again. Phases report offsets; line, column and frame are worked out at the compiler's door, by `toDiagnostics`.
import type { Span } from './ast.ts';

/** What the door hands out: `message` is the bare detail, `params` are [line, column, detail] for "Line {0}, column {1}: {2}.". */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  readonly message: string;
  readonly params: readonly [line: number, column: number, detail: string];
  /** Offsets of the text in UTF-16 code units, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** From 1; columns in UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  readonly hint?: string;
  /** The source line with a caret line under it. */
  readonly frame: string;
}
export type Severity = 'error' | 'warning';
/** A diagnostic as a phase leaves it: offsets only. */
export interface Finding extends Span {
  readonly code: Code;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string;
}

interface Entry {
  readonly severity: Severity;
  readonly text: (...params: never[]) => string;
  readonly hint?: (...params: never[]) => string | undefined;
}
/** A code whose sentence the finder words: `report(at, code, detail, hint?)`; `advice` is the hint where the finder has none. */
const described = (advice?: string, severity: Severity = 'error') => ({
  severity,
  text: (detail: string, _hint?: string): string => detail,
  hint: (_detail: string, hint?: string): string | undefined => hint ?? advice,
});

const CATALOGUE = {
  'cascade.lang.syntax': described(),
  'cascade.lang.source.size': {
    severity: 'error',
    text: (bytes: number) => `the text has ${bytes} bytes, more than the ${1 << 20} allowed`,
    hint: () => 'move parts of it into procedures of their own',
  },
  'cascade.lang.literal.range': {
    severity: 'error',
    text: (literal: string) => `${literal} is outside the range of its type`,
    hint: (literal: string) =>
      /^[\d.]+[eE.]/.test(literal) ? 'a Real is below 1.8e308' : 'an Integer goes from -9223372036854775808 to 9223372036854775807',
  },
  'cascade.lang.name.reserved': {
    severity: 'error',
    text: (word: string) => `'${word}' is a reserved word and cannot be used as a name here`,
    hint: () => "take another name; only after '.' and as a key any word will do",
  },
  'cascade.lang.call.mixed.arguments': described('name all arguments, or none'),
  'cascade.lang.insert.values.form': {
    severity: 'error',
    text: () => 'INSERT with a VALUES list is not supported',
    hint: () => 'write INSERT INTO Type(a: 1, b: 2), or INSERT Type(object)',
  },
  'cascade.lang.where.required': {
    severity: 'error',
    text: (statement: string) => `${statement} needs a WHERE`,
    hint: () => 'write WHERE {} to mean all instances',
  },
  'cascade.lang.variable.undeclared': described(),
  'cascade.lang.variable.redeclared': described(),
  'cascade.lang.reference.position': {
    severity: 'error',
    text: (name: string) => `'@${name}' can only stand for the name of a resource`,
    hint: (name: string) => `for the value of the variable write ${name}`,
  },
  'cascade.lang.parameter.mixed': described('Any accepts every value'),
  'cascade.lang.parameter.required.default': described(),
  'cascade.lang.option.unknown': described(),
  'cascade.lang.package.name': described(),
  'cascade.lang.import': described(),
  'cascade.lang.select.alias': described('name the result: AS result'),
  'cascade.lang.select.source': described('what the source is asked for stands in WITH'),
  'cascade.lang.execute.async': described(),
  'cascade.lang.return.position': described('put the rest into ELSE, so that RETURN is the last statement of its branch', 'warning'),
  'cascade.rule.before.system': described('a WHEN rule hears of the change after it was made', 'warning'),
  'cascade.rule.loop': described('a WHERE that is false after the change ends the round; a chain ends after 200 runs', 'warning'),
  'cascade.lang.processedby.deprecated': described('give PROCESSED BY a block: { … }', 'warning'),
  'cascade.rule.version.invalid': {
    severity: 'error',
    text: (version: string) => `'${version}' is not a version`,
    hint: () => "a version is letters, digits, '.', '-' and '_', right after the name and ':'",
  },
  'cascade.rule.version.conflict': described('only the WHERE of RULE may differ between the versions of one rule'),
  'cascade.rule.alias.required': described('name each event with AS'),
  'cascade.rule.merge.alias': described('give all of them one name with AS'),
  'cascade.rule.interval': described('for example 5 seconds'),
  'cascade.rule.timeout': described(),
  'cascade.rule.activation': described(),
  'cascade.service.state.modifier': described(),
  'cascade.service.partition.parameter': described(),
  'cascade.federation.statement.unsupported': described(),
  'cascade.event.path.invalid': described('for example "/types/Pump/insert" or "/topics/a/b"'),
  'cascade.resource.name.reserved': {
    severity: 'error',
    text: (name: string) => `'${name}' cannot be chosen: names that begin with 'ars_' belong to the system`,
  },
  // Advice: `cascade check` gives it, a stored resource doesn't keep it.
  'cascade.check.variable.unused': described('leave it out', 'warning'),
  'cascade.check.assignment.unread': described('leave the assignment out', 'warning'),
  'cascade.check.condition.constant': described('leave the condition out, or mend it', 'warning'),
  'cascade.check.statement.unreachable': described('leave it out, or put it before what ends the run', 'warning'),
  'cascade.check.class.cast': described('put the Decimal or Currency on the left, or convert with toDecimal() or toCurrency()', 'warning'),
  'cascade.check.operand': described(undefined, 'warning'),
  'cascade.check.property.unknown': described(undefined, 'warning'),
  'cascade.check.property.required': described(undefined, 'warning'),
  'cascade.check.property.type': described(undefined, 'warning'),
  'cascade.check.argument.count': described(undefined, 'warning'),
  'cascade.check.argument.missing': described(undefined, 'warning'),
  'cascade.check.argument.type': described(undefined, 'warning'),
  'cascade.check.argument.unknown': described(undefined, 'warning'),
  'cascade.check.procedure.unknown': described(undefined, 'warning'),
  'cascade.check.type.unknown': described(undefined, 'warning'),
} as const satisfies Record<string, Entry>;

export type Code = keyof typeof CATALOGUE;
export type DiagnosticParams<C extends Code> = Parameters<(typeof CATALOGUE)[C]['text']>;
/** Every code the compiler can report, in the order of the catalogue. */
export const CODES = Object.keys(CATALOGUE) as readonly Code[];
/** Only for those who ask for advice: nothing that refuses a text or is kept beside it. */
export const isAdvice = (code: Code): boolean => code.startsWith('cascade.check.');
/** More than these are counted, not kept: hostile text must not become an answer of a thousand pages. */
const MOST_KEPT = 200;

/** What the phases have found so far, in the order of finding. */
export class Diagnostics {
  readonly list: Finding[] = [];
  readonly #seen = new Set<string>();
  readonly #allowed: readonly Code[];
  #errors = 0;

  /** @param allowed what is no mistake here */
  constructor(allowed: readonly Code[] = []) {
    this.#allowed = allowed;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }
  get errorCount(): number {
    return this.#errors;
  }
  get hasRoom(): boolean {
    return this.list.length < MOST_KEPT;
  }

  /** The same code at the same place is kept once. */
  report<C extends Code>(at: Span, code: C, ...params: DiagnosticParams<C>): void {
    const { severity, text, hint } = CATALOGUE[code] as Entry;
    const key = `${code}@${at.start}`;
    if (this.#seen.has(key) || this.#allowed.includes(code)) return;
    if (severity === 'error') this.#errors += 1;
    if (!this.hasRoom) return;
    this.#seen.add(key);
    const message = (text as (...params: unknown[]) => string)(...params);
    const advice = (hint as ((...params: unknown[]) => string | undefined) | undefined)?.(...params);
    this.list.push({ code, severity, message, start: at.start, end: at.end, ...(advice === undefined ? {} : { hint: advice }) });
  }
}
