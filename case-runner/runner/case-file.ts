// A file of cases: YAML read into checked shapes. Numbers keep their text (5 is not 5.0), and a misspelt key is an error, not a silence.
// Two tags stand for values that can't be written: `!any ''` for any value, `!like 'pattern'` for a text that fits.
import { isAlias, isMap, isScalar, isSeq, parseDocument, type ParsedNode } from 'yaml';
import { isNumber, type Json, JsonNumber, type JsonObject } from '../client/index.ts';

/** A value in a case: JSON, where a text `$name.path` stands for something seen earlier in the case, and the two tags. */
export type Wanted = null | boolean | string | JsonNumber | Wanted[] | { [key: string]: Wanted } | Tagged;

/** What a value must be like when it can't be known. */
export class Tagged {
  readonly kind: 'any' | 'like';
  readonly text: string;

  constructor(kind: 'any' | 'like', text: string) {
    this.kind = kind;
    this.text = text;
  }
}

export type WantedObject = { [key: string]: Wanted };

export interface Given {
  types?: WantedObject;
  topics?: Wanted[];
  procedures?: string[];
  rules?: string[];
  /** Instances by type, inserted in order. */
  instances?: { [type: string]: Wanted[] };
}

export interface Step {
  readonly kind: StepKind;
  readonly line: number;
  readonly body: WantedObject;
}

/** What carries the requests of a case: REST, or messages of a WebSocket (where those steps that are HTTP's alone still go by REST). */
export const BINDINGS = ['rest', 'websocket'] as const;
export type Binding = (typeof BINDINGS)[number];

export interface Case {
  readonly name: string;
  readonly spec: string[];
  /** It is run once over each; REST alone unless the case or its file says otherwise. */
  readonly bindings: readonly Binding[];
  readonly given: Given;
  readonly steps: Step[];
  /** A row of `expressions` or `bodies`, whose only step computes it. */
  readonly isRow?: boolean;
  /** Of a row of `expressions`. */
  readonly expression?: string;
}

export interface CaseFile {
  /** Below the folder of cases, without its ending: `rules/when-where`. */
  readonly name: string;
  readonly spec: string[];
  readonly given: Given;
  readonly cases: Case[];
}

/**
 * The steps and what each may say. Those of a WebSocket: `connect` opens one and logs in, `ask` sends a message and awaits its answer, `tell` sends a
 * message, a text or a frame, `hear` awaits the next message (or the next frame as it is), `closed` the end. `on` names the socket. (`compute` runs the body of a procedure once; `advance` lets time pass, `by: 30 days`). `error` is a code without or with a list of params; `as` keeps what came for later steps; `token` is who asks instead.
 */
export const STEPS = {
  insert: ['into', 'object', 'objects', 'query', 'is', 'all', 'as', 'status', 'headers', 'error', 'params'],
  upsert: ['into', 'object', 'objects', 'query', 'is', 'all', 'as', 'status', 'headers', 'error', 'params'],
  update: ['in', 'id', 'object', 'is', 'as', 'status', 'error', 'params'],
  patch: ['in', 'id', 'operations', 'is', 'as', 'status', 'error', 'params'],
  delete: ['from', 'id', 'where', 'count', 'status', 'error', 'params'],
  get: ['from', 'id', 'query', 'is', 'as', 'status', 'error', 'params'],
  select: ['from', 'where', 'props', 'sort', 'page', 'limit', 'count', 'total', 'rows', 'as', 'status', 'error', 'params'],
  eventually: ['from', 'where', 'sort', 'count', 'rows', 'as', 'withinMs', 'token'],
  logs: ['level', 'message', 'count', 'withinMs'],
  advance: ['by'],
  publish: ['to', 'message', 'status', 'error', 'params'],
  execute: ['procedure', 'args', 'value', 'is', 'as', 'status', 'error', 'params'],
  compute: ['body', 'value', 'is', 'as', 'status', 'error', 'params'],
  register: ['rule', 'procedure', 'type', 'topic', 'query', 'is', 'as', 'status', 'error', 'line', 'column', 'params'],
  remove: ['rule', 'procedure', 'type', 'topic', 'status', 'error', 'params'],
  request: [
    'method',
    'path',
    'query',
    'body',
    'text',
    'headers',
    'authenticated',
    'status',
    'is',
    'value',
    'received',
    'as',
    'error',
    'params',
  ],
  connect: ['as', 'framing', 'login'],
  ask: [
    'on',
    'op',
    'resourceName',
    'resourceId',
    'object',
    'parameters',
    'targetNamespace',
    'targetName',
    'status',
    'headers',
    'is',
    'value',
    'as',
    'error',
    'params',
  ],
  tell: ['on', 'message', 'text', 'frame', 'binary'],
  hear: ['on', 'requestId', 'is', 'value', 'as', 'binary', 'frame', 'withinMs'],
  closed: ['on', 'code', 'withinMs'],
} as const;
export type StepKind = keyof typeof STEPS;

/** Reads a file; throws an error that names the place when it is not as it should be. */
// oxlint-disable-next-line max-lines-per-function -- closures over the place in the file, which errors name
export function readCaseFile(name: string, text: string): CaseFile {
  const document = parseDocument(text, { keepSourceTokens: false, prettyErrors: true });
  const [fault] = document.errors;
  if (fault) throw new Error(`${name}: ${fault.message}`);
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  const fail = (node: ParsedNode | null, message: string): never => {
    throw new Error(`${name}:${node?.range ? lineOf(node.range[0]) : 1}: ${message}`);
  };

  const root = members(document.contents, ['spec', 'bindings', 'given', 'cases', 'expressions', 'bodies']);
  const fileGiven = given(root.get('given'));
  const fileBindings = bindings(root.get('bindings')) ?? ['rest'];
  const listed = items(root.get('cases')).map(oneCase);
  const expressions = items(root.get('expressions')).flatMap((row) => tableRow(row, (source) => `return ${source}`, true));
  const bodies = items(root.get('bodies')).flatMap((row) => tableRow(row, (source) => source, false));
  const cases = [...listed, ...expressions, ...bodies];
  const twice = cases.find(({ name: title }, index) => cases.findIndex((other) => other.name === title) !== index);
  if (twice) fail(document.contents, `two cases are named '${twice.name}'`);
  return { name, spec: texts(root.get('spec')), given: fileGiven, cases };

  function oneCase(node: ParsedNode): Case {
    const parts = members(node, ['name', 'spec', 'bindings', 'given', 'steps']);
    const title = textOf(parts.get('name') ?? fail(node, 'a case needs a name'));
    const steps = items(parts.get('steps')).map(step);
    return steps.length === 0
      ? fail(node, 'a case needs steps')
      : {
          name: title,
          spec: texts(parts.get('spec')),
          bindings: bindings(parts.get('bindings')) ?? fileBindings,
          given: given(parts.get('given')),
          steps,
        };
  }

  function bindings(node: ParsedNode | undefined): Binding[] | undefined {
    if (!node) return undefined;
    const named = texts(node);
    if (named.length === 0) return fail(node, 'a case without a binding would never run');
    return named.map((name) => BINDINGS.find((one) => one === name) ?? fail(node, `a binding is one of ${BINDINGS.join(', ')}`));
  }

  function step(node: ParsedNode): Step {
    const parts = members(node, Object.keys(STEPS));
    const [kind] = parts.keys() as IterableIterator<StepKind>;
    if (parts.size !== 1 || !kind) return fail(node, 'a step has exactly one key, its kind');
    const body = parts.get(kind)!;
    members(body, STEPS[kind]);
    return { kind, line: lineOf(node.range[0]), body: toWanted(body) as WantedObject };
  }

  /**
   * `[text, value]` or `[text, {error: code, params: […], status: N}]`, the last two as wanted: a procedure of one expression or body. A third
   * element `{spec: reference}` says which row of the specification it shows.
   */
  function tableRow(node: ParsedNode, toBody: (source: string) => string, isExpression: boolean): Case[] {
    const [source, wanted, about, more] = items(node);
    if (!source || !wanted || more) return fail(node, 'a row is [text, value] or [text, value, {spec: …}]');
    const spec = texts(members(about, ['spec']).get('spec'));
    if (about && spec.length === 0) return fail(about, 'a row may say its spec, and nothing else');
    const text = textOf(source);
    const value = toWanted(wanted);
    const isError =
      isMap(wanted) && wanted.has('error') && wanted.items.every(({ key }) => ['error', 'params', 'status'].includes(String(key)));
    const outcome: WantedObject = isError ? (value as WantedObject) : { value };
    const step: Step = { kind: 'compute', line: lineOf(node.range[0]), body: { body: toBody(text), ...outcome } };
    const name = text.replace(/\s+/g, ' ').trim();
    return [{ name, spec, bindings: fileBindings, given: {}, steps: [step], isRow: true, ...(isExpression && { expression: text }) }];
  }

  function given(node: ParsedNode | null | undefined): Given {
    const parts = members(node ?? null, ['types', 'topics', 'procedures', 'rules', 'instances']);
    return {
      types: parts.has('types') ? (toWanted(parts.get('types')!) as WantedObject) : {},
      topics: items(parts.get('topics')).map(toWanted),
      procedures: items(parts.get('procedures')).map(textOf),
      rules: items(parts.get('rules')).map(textOf),
      instances: parts.has('instances') ? (toWanted(parts.get('instances')!) as { [type: string]: Wanted[] }) : {},
    };
  }

  function members(node: ParsedNode | null | undefined, allowed: readonly string[]): Map<string, ParsedNode> {
    if (!node || (isScalar(node) && node.value === null)) return new Map();
    if (!isMap(node)) return fail(node, 'a map is expected');
    return new Map(
      node.items.map((pair) => {
        const key = String(pair.key);
        if (!allowed.includes(key)) fail(pair.key, `'${key}' is not known here; known are ${allowed.join(', ')}`);
        return [key, pair.value ?? fail(pair.key, `'${key}' has no value`)];
      }),
    );
  }

  function items(node: ParsedNode | null | undefined): ParsedNode[] {
    if (!node) return [];
    return isSeq(node) ? node.items : fail(node, 'a list is expected');
  }

  function textOf(node: ParsedNode): string {
    return isScalar(node) && typeof node.value === 'string' ? node.value : fail(node, 'a text is expected');
  }

  function texts(node: ParsedNode | undefined): string[] {
    return node && isSeq(node) ? items(node).map(textOf) : node ? [textOf(node)] : [];
  }

  function toWanted(node: ParsedNode): Wanted {
    if (isSeq(node)) return node.items.map(toWanted);
    if (isMap(node)) {
      const object = Object.create(null) as WantedObject;
      for (const { key, value } of node.items)
        object[isScalar(key) ? (key.source ?? String(key.value)) : String(key)] = toWanted(value as ParsedNode);
      return object;
    }
    if (isAlias(node)) return toWanted((node.resolve(document) ?? fail(node, 'an alias of nothing')) as ParsedNode);
    if (!isScalar(node)) return fail(node, 'a value is expected');
    if (node.tag === '!any' && node.source !== '') return fail(node, "!any takes no text: it is written !any ''");
    if (node.tag === '!any' || node.tag === '!like') return new Tagged(node.tag === '!any' ? 'any' : 'like', String(node.value));
    if (node.tag === '!repeat') return repeated(String(node.value)) ?? fail(node, '!repeat "before|times|part|after" is expected');
    if (typeof node.value === 'number' || typeof node.value === 'bigint') return new JsonNumber(node.source ?? String(node.value));
    return node.value as null | boolean | string;
  }
}

/** `!repeat "before|times|part|after"`: a text that would be too long to write down. */
function repeated(text: string): string | undefined {
  const [before, times, part, after, more] = text.split('|');
  if (before === undefined || part === undefined || after === undefined || more !== undefined || !/^\d+$/.test(times ?? ''))
    return undefined;
  return before + part.repeat(Number(times)) + after;
}

/** A wanted value that is to be sent, where tags have no place. */
export function toJson(value: Wanted): Json {
  if (value instanceof Tagged) throw new Error(`!${value.kind} can't be sent`);
  if (Array.isArray(value)) return value.map(toJson);
  if (value === null || typeof value !== 'object' || isNumber(value as Json)) return value as Json;
  const object = Object.create(null) as JsonObject;
  for (const [key, item] of Object.entries(value)) object[key] = toJson(item);
  return object;
}
