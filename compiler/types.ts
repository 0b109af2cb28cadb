// The compiler's public types: what compile() takes and gives. All of it is plain data, fit to be kept in a store.
import type { BinaryOperator } from './ast.ts';
import type { Diagnostic } from './diagnostics.ts';
export type { Diagnostic } from './diagnostics.ts';
export type { BuiltinForm, RuntimeName } from './runtime-names.ts';

/** What the compiler must know of the built-ins; the table is made by stdlib/builtins. Keys: 'trim', 'Math.abs', 'log.info'. */
export type BuiltinTable = ReadonlyMap<string, BuiltinInfo>;
export interface BuiltinInfo {
  readonly name: string;
  /** Letters of builtins.md 0.1: F function form, M method form, S with its service's name only. */
  readonly forms: string;
  readonly params: readonly BuiltinParameter[];
  /** 'suspends': only the host can answer it. */
  readonly effect: 'pure' | 'suspends';
  /** It takes something of the run that calls it: chance, messages, a Sequence. Where there is no run, it cannot be called. */
  readonly ofRun?: boolean;
  /** As a method it asks the host where the receiver is a shared object. */
  readonly maySuspend?: boolean;
  /** Names of arguments by which the host is asked, in place of the built-in itself. */
  readonly asksFor?: readonly string[];
  /** It reads what is in shared Maps among its arguments, at any depth: the caller puts their contents there first. */
  readonly contents?: boolean;
}
export interface BuiltinParameter {
  readonly name: string;
  readonly optional?: boolean;
  readonly rest?: boolean;
  readonly lambda?: boolean;
  /** A Sequence given here is read to its end: the caller makes it an Array first, since its elements may ask the host. */
  readonly sequence?: boolean;
  /** Only some of the built-in's declarations take a Sequence here: to the others the Array tells that it was one. */
  readonly marksSequence?: boolean;
}

export interface CompileOptions {
  readonly builtins: BuiltinTable;
  /** The state variables of a service, by its full name; null, or nothing given: it has none (language.md 8). */
  readonly stateOf?: (service: string) => ServiceStateNames | null;
  /** What the text must be; without it the text decides. */
  readonly kind?: 'rule' | 'procedure';
  /** The text is the service's own: names with its prefix are allowed. */
  readonly ofService?: boolean;
  /** Also tell of what is surely a mistake though it compiles (`cascade.check.*`); the unit's own warnings never hold that. */
  readonly advice?: boolean;
  /** The module is to tell each line that it takes and the values that change there: for repetitions only (`cascade replay`). */
  readonly traced?: boolean;
}

export interface ServiceStateNames {
  readonly global: readonly string[] | null;
  readonly partitioned: readonly string[] | null;
}

export type Compiled =
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: true; readonly diagnostics: readonly Diagnostic[]; readonly unit: CompiledRule | CompiledProcedure };

export interface CompiledModule {
  /** JavaScript, an expression: `(function ($rt) { 'use strict'; … return main; })`. */
  readonly source: string;
  /** Source map, version 3, as JSON text; see originalPosition(). */
  readonly map: string;
  /** The lifted literals: the inner-JSON text of an array. Rules that differ only in literals share `source`. */
  readonly constants: string;
  /** The body is a generator: it may loop or ask the host. */
  readonly suspends: boolean;
  /**
   * Of a rule on one event: the members of the event's value that `main` reads, when it does nothing else with its variable; else null.
   * Absent in what an earlier version compiled.
   */
  readonly reads?: readonly string[] | null;
}

interface CompiledHead {
  readonly description: string;
  readonly module: CompiledModule;
  readonly warnings: readonly Diagnostic[];
}
export interface CompiledRule extends CompiledHead {
  readonly kind: 'rule';
  readonly name: string;
  readonly version: string | null;
  /** `name` or `name:version`, with the package in front. */
  readonly fullName: string;
  /** The service (package.name) of a PACKAGE text: whose private procedures it may call; null without a package. */
  readonly package: string | null;
  readonly timing: 'when' | 'before';
  readonly triggers: readonly TriggerSpec[];
  /** RULE … WHERE; also the test that picks a version (language.md 6.4). */
  readonly where: ConditionData | null;
  /** CONSTRAIN TO of a merge; a correlation has its own. */
  readonly constraint: ConditionData | null;
  readonly correlation: CorrelationSpec | null;
  readonly expect: { readonly kind: 'every' | 'within'; readonly intervalMs: number } | null;
  readonly hasTimeout: boolean;
  /** Where-object, inner-JSON text, or null. */
  readonly activationConstraint: string | null;
  /** Event paths that its statements may raise events on, where they name them; absent in what an earlier version compiled. */
  readonly raises?: readonly string[];
  /** Parameters of `main` in order: the event variables. */
  readonly variables: readonly string[];
}
/** A binding of an event. */
export interface TriggerSpec {
  /** '/types/Pump/insert', '/topics/a/b/publish', '/sources/S/publish' */
  readonly paths: readonly string[];
  readonly variable: string;
  /** The variable holds the event object, or its value alone. */
  readonly binds: 'event' | 'value';
  readonly condition: ConditionData | null;
}
/** `left operator right`; a number is an index into CompiledRule.triggers. */
export interface CorrelationSpec {
  readonly operator: 'before' | 'after' | 'and';
  readonly left: number | CorrelationSpec;
  readonly right: number | CorrelationSpec;
  readonly withinMs: number;
  readonly constraint: ConditionData | null;
}

export interface CompiledProcedure extends CompiledHead {
  readonly kind: 'procedure';
  /** Qualified, package included. */
  readonly name: string;
  /** Package and service; null without a service. */
  readonly serviceName: string | null;
  readonly package: string | null;
  readonly private: boolean;
  readonly hidden: boolean;
  readonly access: 'global' | 'multiPartition' | 'stateless' | null;
  /** The state that it runs with: the global one, that of one partition, or of every partition in turn. */
  readonly state: 'global' | 'partition' | 'partitions' | null;
  readonly parameters: readonly CompiledParameter[];
  readonly returns:
    | (NamedType & { readonly scale?: number; readonly maxLength?: number; readonly cardinality: 'array' | 'sequence' | null })
    | null;
  /** WITH options by name; constant ones as inner-JSON text. */
  readonly options: Readonly<Record<string, string>>;
}
export interface NamedType {
  /** Canonical spelling of a standard type, or a type's name. */
  readonly type: string;
  /** The name as written, where it differs from that of a standard type by case only: a type of the namespace with it is meant before (language.md P1). */
  readonly written?: string;
}
export interface CompiledParameter {
  readonly name: string;
  /** As in NamedType, or null when untyped. */
  readonly type: string | null;
  readonly written?: string;
  readonly array: boolean;
  readonly required: boolean;
  readonly hasDefault: boolean;
  /** Constant default, inner-JSON text. */
  readonly default?: string;
  readonly description: string | null;
  readonly scale?: number;
  readonly maxLength?: number;
}

// ---------------------------------------------------------------- conditions as data
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'regex' | 'geonear' | 'geointersects' | 'geowithin';
/** A condition on events: plain JSON; constants are inner JSON values. */
export type ConditionData =
  | { readonly op: 'and' | 'or'; readonly terms: readonly ConditionData[] }
  | { readonly op: 'not'; readonly term: ConditionData }
  | { readonly op: 'compare'; readonly operator: CompareOperator; readonly left: ExpressionData; readonly right: ExpressionData }
  | { readonly op: 'where'; readonly value: ExpressionData };
/**
 * An expression over events and pure built-ins. A null step of a path gives null. `asked`: a value that only the program can give, by its
 * function `asked<n>`; `text` is the same where the same is asked.
 */
export type ExpressionData =
  | { readonly k: 'const'; readonly v: unknown }
  | { readonly k: 'path'; readonly root: string; readonly p: readonly string[] }
  | { readonly k: 'unary'; readonly op: '+' | '-' | '!'; readonly a: ExpressionData }
  | { readonly k: 'binary'; readonly op: BinaryOperator; readonly a: ExpressionData; readonly b: ExpressionData }
  | { readonly k: 'logical'; readonly op: '&&' | '||'; readonly a: ExpressionData; readonly b: ExpressionData }
  | { readonly k: 'ternary'; readonly c: ExpressionData; readonly a: ExpressionData; readonly b: ExpressionData }
  | { readonly k: 'asked'; readonly n: number; readonly text: string }
  | { readonly k: 'call'; readonly name: string; readonly args: readonly ExpressionData[] }
  | { readonly k: 'array'; readonly items: readonly ExpressionData[] }
  | { readonly k: 'object'; readonly members: readonly (readonly [string, ExpressionData])[] }
  | { readonly k: 'index'; readonly a: ExpressionData; readonly i: ExpressionData };
