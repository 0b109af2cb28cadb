// What crosses the border between a lane (host) and its isolate: one JSON text in, an array of items; one text out, of two parts: the JSON
// text of an array of items, and, behind a line feed where there are any, the texts of the values that the items name by their lengths, in
// their order: the host passes them on without reading them. The isolate answers nothing else and sees nothing else. Values are inner JSON
// (stdlib/values/inner-json.ts).
// One request of a run is in flight at a time; the items of one run keep their order; runs of one batch are independent.

/** A value of the language as a parsed inner-JSON tree; `Inner` is inserted as is, never as text in text. */
export type Inner = unknown;
/** Ids that the host chooses. A run's id is unique while the run is open. */
export type RunId = string | number;
/** Number, from 0, of what runs have in common: a program and the options that don't change from run to run. */
export type FrameId = number;
export type SettingsId = number;
/** Name of a program: a module and its constants. A program is bound before it is started. */
export type ProgramId = string;
/** Name of a module: the hash of its text. Its script runs `$cascade.define(mod, factory)` under the file name `cascade:<mod>`. */
export type ModuleId = string;

/** An error as data; the message is filled already. One raised by exception() has status 400, whatever its code (language.md H3). */
export interface WireError {
  code: string;
  message: string;
  params: Inner[];
  status: number;
  /** Where several were found together: all of them, this one first. */
  errors?: OneWireError[];
}
export type OneWireError = Omit<WireError, 'errors'>;
/** Line and column (both from 1) in the emitted text; originalPosition() of the compiler's door leads to the rule's text. */
export interface Frame {
  mod: ModuleId;
  line: number;
  column: number;
  name: string;
}

export interface StartOptions {
  /** What now() gives until the run's next own item, ms since the epoch. */
  at: number;
  /** Source of uuid() and random(): the same seed, the same values. */
  seed: string;
  /** Loop turns and calls of one slice; after as many the run gives way by a `slice` item. */
  fuel: number;
  /** Bytes that the run may hold, by the estimate of the helpers; 256 MiB when absent. */
  memory?: number;
  /** Calls on one stack, and elements of an Array or Object that a FOR goes through; those of language.md 10 when absent. */
  callDepth?: number;
  iterations?: number;
  /** Messages below this level are not sent: ERROR 40, WARN 30, INFO 20, DEBUG 10, TRACE 0; INFO when absent. */
  level?: number;
  namespace: string;
  username: string;
  /** `/rules/<name>` or `/procedures/<name>`: what runs. */
  resource: string;
  /** The service (package included) whose PRIVATE procedures may be called, if any (language.md N5, Y8). */
  service?: string | null;
  /** Calls that are already on the stack of the caller; 0 when absent (limit 200). */
  depth?: number;
  /** Which of `args` are event objects, sent with `value` only. */
  eventArgs?: number[];
  /** The procedure was called by EXECUTE: empty, or with the key of the partition. */
  executed?: Inner[];
  /** Another node has called it: its value may be a Sequence, but hold none (language.md Q5). */
  toNode?: boolean;
}

/** What does not change from run to run of one program. */
export type RunSettings = Omit<StartOptions, 'at' | 'seed' | 'fuel' | 'eventArgs'>;
/** Of many frames. `binds`: what their programs take of their event, the event object or its `value` alone; `members`: and read of that
 * value no more than these, so that nothing else is sent. */
export type FrameSettings = Omit<RunSettings, 'resource'> & { binds: 'event' | 'value'; members?: readonly string[] };

/** What the host knows of a user procedure, for argument checks and the call (language.md 3.4, 4.9). */
export interface ProcedureInfo {
  /** Full name, package included. */
  name: string;
  program: ProgramId;
  private: boolean;
  /** The service part with its package; null for a procedure without one. */
  service: string | null;
  /** CompiledProcedure.state; null or absent: it has none. */
  state?: 'global' | 'partition' | 'partitions' | null;
  /** It has a group or profiles of its own: programs call it through the host, which looks at both (`call`). */
  apart?: boolean;
  /** CompiledProcedure.parameters, as compiled; a default is inner JSON text. */
  parameters: ProcedureParameter[];
  returns: { type: string; written?: string; scale?: number; maxLength?: number; cardinality: 'array' | 'sequence' | null } | null;
}
/** There is one, but its text no longer compiles: each call of it raises this. */
export interface RefusedProcedure {
  refused: WireError;
}
export interface ProcedureParameter {
  name: string;
  /** Canonical standard type, `Any`, the name of a type or scalar of the namespace, or null when untyped. */
  type: string | null;
  /** NamedType.written of the compiler. */
  written?: string;
  array: boolean;
  required: boolean;
  hasDefault: boolean;
  /** Constant default, inner JSON text; only when hasDefault. */
  default?: string;
  scale?: number;
  maxLength?: number;
}

export type In =
  /** After the module's script has run. Binding anew is harmless. `constants`: an array. */
  | ['bind', ProgramId, ModuleId, Inner[]]
  | ['unbind', ProgramId]
  | ['unload', ModuleId]
  /** A frame is known before a run of it starts, its settings before the frame; both stay as they are. */
  | ['settings', SettingsId, FrameSettings]
  | ['frame', FrameId, ProgramId, SettingsId, resource: string]
  /** Starts of rules for events: there are very many, so they say no more than they must. Each stands in the list as its RunId, the
   * FrameId of its frame, its seed, and the members of its event's value that the frame names. Where the frame names none, the event is
   * the next of `events`, or, where the FrameId is turned (`~`), that of the run before. An event object is sent with `value` only: the
   * isolate adds `newValue`. */
  | ['runs', at: number, fuel: number, runs: Inner[], events: Inner[]]
  /** `entry`: 'main', 'timeout' for the TIMEOUT section of a rule, 'asked<n>' for what its conditions ask for. */
  | ['start', RunId, ProgramId, entry: string, args: Inner[], StartOptions]
  /** A procedure from outside: resolved, arguments checked and converted, result converted. One of args and named is null. */
  | ['startProcedure', RunId, name: string, args: Inner[] | null, named: Record<string, Inner> | null, StartOptions]
  /** Answers `resolve` for every run that waits for the name, and is kept until `forget`; null: there is none (also kept). */
  | ['procedure', name: string, ProcedureInfo | RefusedProcedure | null]
  | ['forget', name: string]
  /** Answers to the run's request, or, `err` after `slice`, its end by a limit at the place where it gave way; `list` is a result list (language.md Q7). `at` is the new now(). */
  | ['ok', RunId, Inner, at: number]
  | ['list', RunId, Inner[], at: number]
  | ['err', RunId, WireError, at: number]
  /** After `slice`. `heapBytes`: what the whole isolate holds, as measured; with it a run whose estimate is too high goes on. */
  | ['go', RunId, at: number, heapBytes?: number]
  /** The run is forgotten at once; no FINALLY runs, no answer comes. */
  | ['drop', RunId];

/** Length of a value's text, in UTF-16 units, which stands behind the items. */
export type TextLength = number;

export type Out =
  /** A host operation. `site` names the statement (with the call path before it), `nth` counts from 0 how often this run asked there.
   * `tail`: nothing of the run comes after it but `done`, and its value is not used: the host may commit both as one. */
  | ['op', RunId, site: string, nth: number, kind: OpKind, payload: TextLength, tail: boolean]
  /** Wants a `procedure` item for this name. */
  | ['resolve', RunId, name: string]
  /** fuelUsed counts over the whole run. */
  | ['done', RunId, TextLength, fuelUsed: number]
  /** All those of the batch that are done and gave null, as rules do; it comes last. `runs`: a RunId and how many have it and the numbers
   * that follow it, in turn. `fuel`: what they have used together since they last gave way. */
  | ['ended', runs: (RunId | number)[], fuel: number]
  | ['fail', RunId, WireError & { frames: Frame[] }, fuelUsed: number]
  /** Gave way; goes on with `go`. `charged`: estimate of the bytes the run holds, garbage included: it only grows, until a `go` corrects it.
   * Above StartOptions.memory the run fails at `go` unless that tells of a heap below. */
  | ['slice', RunId, fuelUsed: number, charged: number]
  /** `k` counts from 0 within the run. Level is ERROR, WARN, INFO, DEBUG or TRACE; LINE is a traced module's, its text is `[body, line, [name, value text]…]`. */
  | ['log', RunId, k: number, level: string, text: string];

/** The kinds of host operations; the payload of each is described at its interface. */
export type OpKind = keyof OpPayloads;
export interface OpPayloads {
  select: SelectPayload;
  /** ok {cursor, rows, done}; with done the cursor is closed already. */
  open: SelectPayload;
  /** ok {rows, done} */
  next: { cursor: string };
  close: { cursor: string };
  insert: { resource: string; values: Inner; series: boolean; options: Record<string, Inner> };
  upsert: { resource: string; values: Inner; options: Record<string, Inner> };
  /** onError: go on after a failing instance; the answer is then {count, failed: [{error, instance}]}. */
  update: {
    resource: string;
    values: Inner;
    where: Inner;
    options: Record<string, Inner>;
    onError: boolean;
    /** How values follow from the row: `set` has [name, ExpressionData] of `row` and `given`. Absent: they are what they are. */
    computed?: { set: Inner; given: Record<string, Inner> };
  };
  delete: { resource: string; where: Inner; options: Record<string, Inner> };
  publish: { topic: string; value: Inner; schedule?: Inner };
  publishRequest: { resource: string; value: Inner };
  publishSource: { source: string; value: Inner; using: Inner };
  /** from: the service whose code publishes. */
  publishServiceEvent: { target: string; value: Inner; from: string | null };
  /** SELECT … FROM SOURCE: request holds the WITH options. ok: the result value v. */
  query: { source: string; request: Record<string, Inner> };
  /** EXECUTE ASYNC; names: candidates in order, the first that exists is meant, or one of a built-in. The partition of a stateful procedure,
   * where it is given. */
  execute: {
    names: string[];
    args: Inner[] | null;
    named: Record<string, Inner> | null;
    async: boolean;
    builtin?: true;
    partitionKey?: Inner;
    from: string | null;
  };
  /** A call of a procedure with rights of its own, whose arguments are bound. `service`: of the code that calls. ok: its value. */
  call: { name: string; args: Inner[]; service: string | null; executed: Inner[] | null };
  executeAll: { where: Inner; args: Inner[] | null; named: Record<string, Inner> | null; async?: true };
  /** verb create and alter mean the same. ok: the stored resource object. */
  create: { kind: DefinitionKind; value: Inner; options: Record<string, Inner> };
  /** Several names: what a procedure may mean, of which the first that exists is dropped. */
  drop: { kind: DefinitionKind; name: string | readonly string[] };
  /** PROCESSED BY: begins on the nodes. ok: a NodePage. `statement` is the payload of `kind`; of EXECUTE {name, args, named}. */
  nodeOpen: NodeAsked;
  /** More of it; the cursor is what the page before gave. ok: a NodePage */
  nodeNext: NodeAsked & { cursor: Inner };
  /** What is left of it is dropped. ok null */
  nodeClose: { cursor: Inner };
  /** A built-in that only the host can answer (features/builtins); one argument a parameter, and of Event.request the service whose code publishes.
   * ResourceAPI.executeOp answers with `list`. */
  builtin: { name: string; args: Inner[] };
  /** Values that are to be as types of the namespace say, each with the type's name. ok: a Described for each. */
  describe: { values: [string, Inner][] };
  state: StatePayload;
}
/** Requests of the kind `state`: variables of services and shared objects (builtins.md 10); handles may stand in all values. A value of
 * the global state has no partition. */
export type StatePayload =
  /** ok Boolean: whether the caller has to run the initialising procedure and to say `entered` afterwards. */
  | { op: 'enter'; service: string; partition: string | null }
  | { op: 'entered'; service: string; partition: string | null; failed: boolean }
  /** ok {version, value}; without the value when the version is the one that the run has. */
  | { op: 'get'; service: string; partition: string | null; name: string; version: number }
  /** ok the version after it */
  | { op: 'set'; service: string; partition: string | null; name: string; value: Inner }
  /** ok the keys of the partitions that there are */
  | { op: 'partitions'; service: string }
  /** ok a handle; `options`: the arguments of the constructor */
  | { op: 'create'; kind: 'Map' | 'Cache' | 'Value' | 'Lock'; options: Inner[] }
  /** One call, atomic. */
  | { op: 'call'; object: Inner; method: string; args: Inner[] }
  /** Locks an entry (`key` is its text, '' for the whole object) for a lambda; ok {token, present, value}. */
  | { op: 'begin'; object: Inner; key: string }
  /** The lambda is done: the entry gets its value, goes, or stays as it was; the lock is free. */
  | { op: 'end'; token: number; change: 'set' | 'remove' | 'none'; value: Inner };
/** The value is so already; as it has to be converted; or what is wrong, with the path inside the value. */
export type Described =
  | { readonly same: true }
  | { readonly value: Inner }
  | { readonly refused: readonly [path: string, expected: string, actual: string] };
export type DefinitionKind = 'rule' | 'procedure' | 'type' | 'topic' | 'source' | 'node';
export interface NodeAsked {
  where: Inner;
  cardinality: 'one' | 'atLeastOne' | 'exactlyOne' | null;
  /** WITHIN in ms, where `limited`. */
  within: Inner;
  limited: boolean;
  /** All rows of a node come as one value. */
  gathers: boolean;
  /** Rows come page by page, however many there are. */
  streams: boolean;
  /** There is a handler for errors. */
  handled: boolean;
  kind: string;
  statement: Inner;
}
/** Records of the nodes that the items are of, by name. An item: `[name, 'value', value]`, `[name, 'error', {code, message, params, status}]`,
 * and `[name, 'end']` when a node has given all. `cursor` null: nothing is left. */
export interface NodePage {
  nodes: Record<string, Inner>;
  items: [string, 'value' | 'error' | 'end', Inner?][];
  cursor: Inner;
}
export interface SelectPayload {
  resource: string;
  /** A REST where-object (language.md W11); {} matches all. */
  where: Inner;
  /** Property paths to read; null: all. */
  props: string[] | null;
  /** Result name → [function, path or null]; with it the rows hold these and the grouped paths only. */
  aggregates?: Record<string, [AggregateName, string | null]>;
  groupBy?: string[];
  /** [path, descending] */
  orderBy: [string, boolean][];
  limit?: Inner;
  skip?: Inner;
  cardinality: 'array' | 'one' | 'exactlyOne' | 'sequence';
  options: Record<string, Inner>;
  /** The row is read for an update with `computed` and used for nothing else. */
  forChange?: true;
}
export type AggregateName = 'count' | 'sum' | 'avg' | 'rise' | 'min' | 'max' | 'first' | 'last';
