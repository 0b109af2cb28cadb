// What the checker finds out, kept beside the tree. The emitter reads it and never asks the checker again.
import type { Call, Definition, Execute, Expression, MethodCall, Recommendations, Select } from '../ast.ts';
import type { BuiltinInfo, CompiledParameter, NamedType, ConditionData, CorrelationSpec, TriggerSpec } from '../types.ts';
import type { ComputedChanges } from './computed-changes.ts';
import type { Effects } from './effects.ts';

/** What a call means (language.md 3.2). `receiver`: method style, the value that becomes the first argument. */
export type CallTarget =
  | { readonly kind: 'builtin'; readonly info: BuiltinInfo; readonly receiver: Expression | null }
  /** `names`: candidates of user or system procedures, the first that exists is called. */
  | { readonly kind: 'user'; readonly names: readonly string[]; readonly receiver: Expression | null };

export interface Model {
  readonly definition: Definition;
  readonly calls: ReadonlyMap<Call | MethodCall | Execute, CallTarget>;
  /** Expressions that are a built-in's constant without parentheses, as `Math.PI`. */
  readonly constants: ReadonlyMap<Expression, BuiltinInfo>;
  /** SELECT as a statement: the variable that it assigns (language.md E4); a SELECT that is not here assigns none. */
  readonly selects: ReadonlyMap<Select, string>;
  /** Variables of the body and of the TIMEOUT section that are not parameters: declared at the top of the function. */
  readonly variables: { readonly main: readonly string[]; readonly timeout: readonly string[] };
  /** Nodes that read, and nodes that assign, a variable of the function; of the main body and of TIMEOUT. */
  readonly uses: { readonly main: Uses; readonly timeout: Uses };
  /** Names whose subscript must be inside: parameters declared ARRAY (language.md 4.8). */
  readonly arrayParameters: ReadonlySet<string>;
  /** WHERE objects that are a bare property path: `path == true` (language.md W5). */
  readonly barePaths: ReadonlySet<Expression>;
  /** `log` as a value of its own: it has none. */
  readonly bareLogs: ReadonlySet<Expression>;
  /** Recommendations whose result a RECOMMEND inside appends to. */
  readonly recommendations: ReadonlyMap<object, Recommendations>;
  /** Names, and SELECT statements, that stand for a variable of the service's state. */
  readonly state: ReadonlySet<object>;
  /** Members and subscripts of what may be a shared Map. */
  readonly mapReads: ReadonlySet<object>;
  /** Whether any value of the text may be a shared Map. */
  readonly mayHoldMaps: boolean;
  /** UPDATEs whose values the service may compute from the newest version of the row. */
  readonly computed: ComputedChanges;
  readonly stateAccess: 'global' | 'partition' | 'partitions' | null;
  /** Package of the text, or null. */
  readonly package: string | null;
  readonly names: Names;
  readonly effects: Effects;
  readonly rule: RuleFacts | null;
  readonly procedure: ProcedureFacts | null;
}

export interface Uses {
  readonly reads: ReadonlySet<object>;
  readonly writes: ReadonlySet<object>;
}

/** Names of resources as the package and the imports say (language.md N6 to N8). */
export interface Names {
  type(name: string): string;
  source(name: string): string;
  topic(text: string): string;
  service(name: string): string;
  /** `Service/event` with the service's full name. */
  serviceEvent(text: string): string;
  /** What an IMPORT says that a procedure's name as written means; undefined without one. */
  importedProcedure(text: string): string | undefined;
  /** Full names that a procedure's name as written may mean, in the order of language.md 3.2. */
  procedures(text: string): string[];
}
export interface RuleFacts {
  readonly triggers: readonly TriggerSpec[];
  readonly correlation: CorrelationSpec | null;
  readonly constraint: ConditionData | null;
  readonly where: ConditionData | null;
  readonly variables: readonly string[];
  /** Names that events would have without AS, each with a hint that tells of the one it has. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly expectMs: number | null;
  readonly asked: readonly Asked[];
}
/** A part of a condition that only the program can give: one of its functions does, from the event variables that the condition sees. */
export interface Asked {
  readonly expression: Expression;
  readonly variables: readonly string[];
}
export interface ProcedureFacts {
  readonly name: string;
  readonly serviceName: string | null;
  readonly parameters: readonly CompiledParameter[];
  readonly options: Readonly<Record<string, string>>;
  readonly returnType: NamedType | null;
}
